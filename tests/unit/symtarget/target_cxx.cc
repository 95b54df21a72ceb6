// SPDX-License-Identifier: MIT
// As target.c, with names that a C++ compiler mangles.
#include <cstdio>
#include <mutex>
#include <string>

namespace work {

template <typename T> class queue {
public:
	static std::mutex guard;
	__attribute__((noinline)) void push(T item)
	{
		guard.lock();
		last = item;
	}
	T last;
};

template <typename T> std::mutex queue<T>::guard;

struct runner {
	virtual ~runner() {}
	virtual void operator()(const std::string &name, int n);
};

__attribute__((noinline)) void runner::operator()(const std::string &name, int n)
{
	queue<long> q;

	q.push(n + static_cast<int>(name.size()));
	std::printf("%ld\n", q.last);
}

}

int main()
{
	work::runner r;

	work::queue<long>::guard.lock();
	std::printf("%p %p\n", static_cast<void *>(&work::queue<long>::guard),
		    static_cast<void *>(&work::queue<long>::guard));
	std::fflush(stdout);
	r("name", 3);
	return 0;
}

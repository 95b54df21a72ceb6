// SPDX-License-Identifier: MIT
// As target.c, with names that a C++ compiler mangles.
#include <cstdio>
#include <cstring>
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

template <typename F> __attribute__((noinline)) void call_with(F f, int n)
{
	f(n);
	std::printf("%d\n", n);
}

// The lambda is a function of its own, and what it calls is inlined into it.
inline __attribute__((always_inline)) void inlined_push(queue<long> &q, int n)
{
	q.push(n);
	q.last++;
}

__attribute__((noinline)) void through_lambda(int n)
{
	queue<long> q;

	call_with([&q] (int i) __attribute__((noinline)) {
		inlined_push(q, i);
		std::printf("%ld\n", q.last);
	}, n);
}

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

int main(int argc, char **argv)
{
	work::runner r;

	work::queue<long>::guard.lock();
	std::printf("%p %p\n", static_cast<void *>(&work::queue<long>::guard),
		    static_cast<void *>(&work::queue<long>::guard));
	std::fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "lambda"))
		work::through_lambda(5);
	r("name", 3);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Four bytes of the size that a row claims, and the summary's frame. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/detail.h"
#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT, packed = BUF_INIT, again = BUF_INIT;
	struct err err = { 0 };
	uint32_t bytes;

	if (size < sizeof(bytes))
		return 0;
	memcpy(&bytes, data, sizeof(bytes));
	buf_adds(&out, "kept");
	if (detail_unpack(data + sizeof(bytes), size - sizeof(bytes), bytes, &out, &err)) {
		/* Memory for what a row claims is not asked for before its frame claims it. */
		if (err.code != EBADMSG || !err.msg[0])
			abort();
		if (out.len != 4 || memcmp(out.data, "kept", 5))
			abort();
	} else {
		if (out.len != (size_t)bytes + 4 || bytes > STORE_DETAIL_MAX)
			abort();
		if (detail_pack(out.data, out.len, &packed, &err) ||
		    detail_unpack(packed.data, packed.len, out.len, &again, &err) ||
		    again.len != out.len || memcmp(again.data, out.data, out.len))
			abort();
	}
	buf_release(&out);
	buf_release(&packed);
	buf_release(&again);
	return 0;
}

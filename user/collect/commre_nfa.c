/* SPDX-License-Identifier: MIT */
#include "collect/commre_nfa.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * DESIGN: recursive descent builds a tree, and the tree is laid out backwards:
 * each part is given the node that follows it and returns the node to enter it
 * by, so nothing is patched, and x{2,4} is x laid out four times. Every part
 * lays out at least one node, which makes the limit on nodes one on time too.
 */
#define PATTERN_MAX	256	/* bytes */
#define TREE_MAX	(4 * PATTERN_MAX)
#define DEPTH_MAX	64	/* nested ( */
#define REPEAT_MAX	255	/* POSIX's RE_DUP_MAX */
#define UNBOUNDED	-1

enum tree_kind { T_EMPTY, T_SET, T_BOL, T_EOL, T_CAT, T_ALT, T_REPEAT };

struct tree {
	uint8_t kind;
	uint16_t left, right;	/* T_SET: .left is the set */
	int16_t min, max;
};

struct parser {
	const char *what, *pattern, *at;	/* of what it is, for messages */
	struct nfa *nfa;
	struct tree tree[TREE_MAX];
	unsigned int ntrees, depth;
	struct err *err;
};

static int bad(struct parser *p, const char *why)
{
	return err_set(p->err, EINVAL, "bad %s pattern '%s': %s, at byte %zu", p->what,
		       p->pattern, why, (size_t)(p->at - p->pattern) + 1);
}

static int too_large(struct parser *p)
{
	return err_set(p->err, E2BIG, "%s pattern '%.64s' is too large", p->what, p->pattern);
}

static int tree_add(struct parser *p, enum tree_kind kind, int left, int right)
{
	if (left < 0)
		return left;
	if (right < 0)
		return right;
	if (p->ntrees == TREE_MAX)
		return too_large(p);
	p->tree[p->ntrees] = (struct tree){ .kind = (uint8_t)kind, .left = (uint16_t)left,
					    .right = (uint16_t)right };
	return (int)p->ntrees++;
}

static void byteset_add(struct byteset *s, unsigned int c)
{
	s->bits[c / 64] |= 1ULL << (c % 64);
}

/* A name never has a NUL in it: no set does either. */
static void byteset_invert(struct byteset *s)
{
	int i;

	for (i = 0; i < 4; i++)
		s->bits[i] = ~s->bits[i];
	s->bits[0] &= ~1ULL;
}

static int set_add(struct parser *p, const struct byteset *s)
{
	unsigned int i;

	for (i = 0; i < p->nfa->nsets; i++)
		if (!memcmp(&p->nfa->set[i], s, sizeof(*s)))
			return tree_add(p, T_SET, (int)i, 0);
	if (i == NFA_SETS_MAX)
		return too_large(p);
	p->nfa->set[p->nfa->nsets++] = *s;
	return tree_add(p, T_SET, (int)i, 0);
}

static int literal(struct parser *p, unsigned char c)
{
	struct byteset s = { { 0 } };

	byteset_add(&s, c);
	return set_add(p, &s);
}

/* ASCII alone, whatever the locale: a pattern means the same everywhere. */
static bool in_class(const char *name, unsigned int c)
{
	bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
	bool digit = c >= '0' && c <= '9', graph = c > ' ' && c < 0x7f;

	switch (name[0] == 'p' ? name[1] : name[0]) {
	case 'a':
		return upper || lower || (name[2] == 'n' && digit);
	case 'b':
		return c == ' ' || c == '\t';
	case 'c':
		return c < ' ' || c == 0x7f;
	case 'd':
		return digit;
	case 'g':
		return graph;
	case 'l':
		return lower;
	case 'r':	/* print */
		return graph || c == ' ';
	case 's':
		return c == ' ' || (c >= '\t' && c <= '\r');
	case 'u':	/* upper, punct */
		return name[0] == 'p' ? graph && !upper && !lower && !digit : upper;
	default:	/* xdigit */
		return digit || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
	}
}

/* Adds [:name:], p->at being on its "[:". */
static int bracket_class(struct parser *p, struct byteset *s)
{
	static const char *const names[] = {
		"alpha", "alnum", "blank", "cntrl", "digit", "graph",
		"lower", "print", "punct", "space", "upper", "xdigit",
	};
	size_t i, len;
	unsigned int c;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		len = strlen(names[i]);
		if (strncmp(p->at + 2, names[i], len) || p->at[2 + len] != ':' ||
		    p->at[3 + len] != ']')
			continue;
		for (c = 1; c < 256; c++)
			if (in_class(names[i], c))
				byteset_add(s, c);
		p->at += len + 4;
		return 0;
	}
	return bad(p, "unknown [:class:]");
}

/* One byte, range or class of a bracket. */
static int bracket_item(struct parser *p, struct byteset *s)
{
	unsigned int low = (unsigned char)*p->at, high = low;

	if (p->at[0] == '[' && p->at[1] == ':')
		return bracket_class(p, s);
	if (p->at[0] == '[' && (p->at[1] == '=' || p->at[1] == '.'))
		return bad(p, "[= and [. are not supported");
	if (p->at[1] == '-' && p->at[2] && p->at[2] != ']') {
		high = (unsigned char)p->at[2];
		if (high == '[' && (p->at[3] == ':' || p->at[3] == '=' || p->at[3] == '.'))
			return bad(p, "a range ends in a class");
		if (high < low)
			return bad(p, "a range is the wrong way round");
		p->at += 2;
	}
	p->at++;
	for (; low <= high; low++)
		byteset_add(s, low);
	return 0;
}

static int bracket(struct parser *p)
{
	struct byteset s = { { 0 } };
	const char *open = p->at, *first;
	bool negated;
	int rc;

	p->at++;
	negated = *p->at == '^';
	p->at += negated;
	first = p->at;
	while (*p->at && (*p->at != ']' || p->at == first)) {
		rc = bracket_item(p, &s);
		if (rc)
			return rc;
	}
	if (!*p->at) {
		p->at = open;
		return bad(p, "unmatched [");
	}
	p->at++;
	if (negated)
		byteset_invert(&s);
	return set_add(p, &s);
}

static int escape(struct parser *p)
{
	unsigned char c = (unsigned char)p->at[1];
	struct byteset s = { { 0 } };
	unsigned int i;

	if (!c)
		return bad(p, "nothing after \\");
	if (strchr("wWsS", c)) {
		for (i = 1; i < 256; i++)
			if (c == 'w' || c == 'W' ? in_class("alnum", i) || i == '_' :
						   in_class("space", i))
				byteset_add(&s, i);
		if (c == 'W' || c == 'S')
			byteset_invert(&s);
		p->at += 2;
		return set_add(p, &s);
	}
	if (in_class("alnum", c) || strchr("<>`'", c))
		return bad(p, "\\ before a letter or digit, or one of <>`', is not supported");
	p->at += 2;
	return literal(p, c);
}

static int alternatives(struct parser *p);

static int group(struct parser *p)
{
	const char *open = p->at++;
	int t;

	if (p->depth == DEPTH_MAX)
		return too_large(p);
	p->depth++;
	t = alternatives(p);
	p->depth--;
	if (t < 0)
		return t;
	if (*p->at != ')') {
		p->at = open;
		return bad(p, "unmatched (");
	}
	p->at++;
	return t;
}

static int atom(struct parser *p)
{
	struct byteset any = { { 0 } };

	switch (*p->at) {
	case '(':
		return group(p);
	case '[':
		return bracket(p);
	case '\\':
		return escape(p);
	case '^':
		p->at++;
		return tree_add(p, T_BOL, 0, 0);
	case '$':
		p->at++;
		return tree_add(p, T_EOL, 0, 0);
	case '.':
		p->at++;
		byteset_invert(&any);
		return set_add(p, &any);
	case '*':
	case '+':
	case '?':
	case '{':
		return bad(p, "nothing to repeat");
	default:
		return literal(p, (unsigned char)*p->at++);
	}
}

/* A decimal up to REPEAT_MAX, or -1 when there is none; moves on behind it. */
static int number(const char **s)
{
	int n = -1;

	for (; **s >= '0' && **s <= '9'; (*s)++) {
		n = (n < 0 ? 0 : n) * 10 + (**s - '0');
		if (n > REPEAT_MAX)
			n = REPEAT_MAX + 1;
	}
	return n;
}

/* The bounds of {m}, {m,}, {,n} or {m,n}; moves on behind it. */
static int bounds(struct parser *p, int *min, int *max)
{
	const char *s = p->at + 1;

	*min = *max = number(&s);
	if (*s == ',') {
		s++;
		*max = number(&s);
		if (*min < 0)
			*min = 0;
	}
	if (*s != '}' || *min < 0)
		return bad(p, "a { that is not {M}, {M,} or {M,N}");
	if (*min > REPEAT_MAX || *max > REPEAT_MAX)
		return bad(p, "more than 255 repeats");
	if (*max >= 0 && *max < *min)
		return bad(p, "{M,N} with N less than M");
	p->at = s + 1;
	return 0;
}

static int repeated(struct parser *p)
{
	int min, max, rc, t = atom(p);

	while (t >= 0 && *p->at && strchr("*+?{", *p->at)) {
		if (p->tree[t].kind == T_BOL || p->tree[t].kind == T_EOL)
			return bad(p, "nothing to repeat");
		min = *p->at == '+';
		max = *p->at == '?' ? 1 : UNBOUNDED;
		if (*p->at == '{') {
			rc = bounds(p, &min, &max);
			if (rc)
				return rc;
		} else {
			p->at++;
		}
		t = tree_add(p, T_REPEAT, t, 0);
		if (t >= 0) {
			p->tree[t].min = (int16_t)min;
			p->tree[t].max = (int16_t)max;
		}
	}
	return t;
}

static int sequence(struct parser *p)
{
	int t = tree_add(p, T_EMPTY, 0, 0);

	while (t >= 0 && *p->at && *p->at != '|' && *p->at != ')')
		t = tree_add(p, T_CAT, t, repeated(p));
	return t;
}

static int alternatives(struct parser *p)
{
	int t = sequence(p);

	while (t >= 0 && *p->at == '|') {
		p->at++;
		t = tree_add(p, T_ALT, t, sequence(p));
	}
	return t;
}

/* ---- layout ---- */

static int node_add(struct parser *p, enum nfa_kind kind, int out, int out2)
{
	struct nfa *nfa = p->nfa;

	if (out < 0)
		return out;
	if (out2 < 0)
		return out2;
	if (nfa->nnodes == NFA_NODES_MAX)
		return too_large(p);
	nfa->node[nfa->nnodes] = (struct nfa_node){ .kind = (uint8_t)kind, .out = (uint16_t)out,
						    .out2 = (uint16_t)out2 };
	return (int)nfa->nnodes++;
}

static int layout(struct parser *p, int t, int next);

static int layout_repeat(struct parser *p, const struct tree *tree, int next)
{
	int i, body, in = node_add(p, NFA_SPLIT, next, next);

	if (in >= 0 && tree->max == UNBOUNDED) {
		body = layout(p, tree->left, in);
		if (body < 0)
			return body;
		p->nfa->node[in].out = (uint16_t)body;
	}
	for (i = tree->min; i < tree->max && in >= 0; i++) {
		body = layout(p, tree->left, in);
		in = node_add(p, NFA_SPLIT, body, next);
	}
	for (i = 0; i < tree->min && in >= 0; i++)
		in = layout(p, tree->left, in);
	return in;
}

/* Lays out tree @t in front of node @next; its first node, or an error. */
static int layout(struct parser *p, int t, int next)
{
	const struct tree *tree = &p->tree[t];
	int node;

	if (next < 0)
		return next;
	switch (tree->kind) {
	case T_SET:
		node = node_add(p, NFA_SET, next, next);
		if (node >= 0)
			p->nfa->node[node].set = tree->left;
		return node;
	case T_BOL:
		return node_add(p, NFA_BOL, next, next);
	case T_EOL:
		return node_add(p, NFA_EOL, next, next);
	case T_CAT:
		return layout(p, tree->left, layout(p, tree->right, next));
	case T_ALT:
		node = layout(p, tree->right, next);
		return node < 0 ? node : node_add(p, NFA_SPLIT, layout(p, tree->left, next), node);
	case T_REPEAT:
		return layout_repeat(p, tree, next);
	default:
		return node_add(p, NFA_SPLIT, next, next);
	}
}

int commre_parse(struct nfa *nfa, const char *what, const char *pattern, struct err *err)
{
	struct parser *p;
	int rc;

	nfa->nnodes = nfa->nsets = 0;
	if (strlen(pattern) > PATTERN_MAX)
		return err_set(err, E2BIG, "%s pattern is longer than %d bytes", what,
			       PATTERN_MAX);
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_sys(err, ENOMEM, "%s pattern '%s'", what, pattern);
	p->what = what;
	p->pattern = p->at = pattern;
	p->nfa = nfa;
	p->err = err;
	rc = alternatives(p);
	if (rc >= 0 && *p->at)
		rc = bad(p, "unmatched )");
	if (rc >= 0)
		rc = layout(p, rc, node_add(p, NFA_MATCH, 0, 0));
	if (rc >= 0)
		nfa->entry = (unsigned int)rc;
	free(p);
	return rc < 0 ? rc : 0;
}

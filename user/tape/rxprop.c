/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the crate has long names of categories and ignores case, blanks, '-', '_' and a
 * leading "is"; a name alone is a category, a property or a script. PCRE2 has the short names
 * of categories only, takes a script's name for its extensions, and does not fold a property's
 * case; so each name is looked up here and written in full.
 */
#include <stdio.h>
#include <string.h>

#include "tape/rxparse.h"

#define NAME_MAX_BYTES 64

static const struct { const char *name, *other, *text; } categories[] = {
	{ "any", NULL, "Any" }, { "ascii", NULL, "ASCII" }, { "assigned", NULL, "^Cn" },
	{ "c", "other", "C" }, { "cc", "control", "Cc" }, { "cf", "format", "Cf" },
	{ "cn", "unassigned", "Cn" }, { "cntrl", NULL, "Cc" }, { "co", "privateuse", "Co" },
	{ "l", "letter", "L" }, { "lc", "casedletter", "L&" }, { "ll", "lowercaseletter", "Ll" },
	{ "lm", "modifierletter", "Lm" }, { "lo", "otherletter", "Lo" },
	{ "lt", "titlecaseletter", "Lt" }, { "lu", "uppercaseletter", "Lu" },
	{ "m", "mark", "M" }, { "combiningmark", NULL, "M" }, { "mc", "spacingmark", "Mc" },
	{ "me", "enclosingmark", "Me" }, { "mn", "nonspacingmark", "Mn" }, { "n", "number", "N" },
	{ "nd", "decimalnumber", "Nd" }, { "digit", NULL, "Nd" }, { "nl", "letternumber", "Nl" },
	{ "no", "othernumber", "No" }, { "p", "punctuation", "P" }, { "punct", NULL, "P" },
	{ "pc", "connectorpunctuation", "Pc" }, { "pd", "dashpunctuation", "Pd" },
	{ "pe", "closepunctuation", "Pe" }, { "pf", "finalpunctuation", "Pf" },
	{ "pi", "initialpunctuation", "Pi" }, { "po", "otherpunctuation", "Po" },
	{ "ps", "openpunctuation", "Ps" }, { "s", "symbol", "S" }, { "sc", "currencysymbol", "Sc" },
	{ "sk", "modifiersymbol", "Sk" }, { "sm", "mathsymbol", "Sm" },
	{ "so", "othersymbol", "So" }, { "z", "separator", "Z" }, { "zl", "lineseparator", "Zl" },
	{ "zp", "paragraphseparator", "Zp" }, { "zs", "spaceseparator", "Zs" },
};

/* Properties that are true or false; PCRE2 knows these names and those of UCD's short form. */
static const struct { const char *name, *other; } properties[] = {
	{ "ahex", "asciihexdigit" }, { "alpha", "alphabetic" }, { "bidic", "bidicontrol" },
	{ "cased", NULL }, { "ci", "caseignorable" }, { "cwcf", "changeswhencasefolded" },
	{ "cwcm", "changeswhencasemapped" }, { "cwl", "changeswhenlowercased" },
	{ "cwt", "changeswhentitlecased" }, { "cwu", "changeswhenuppercased" }, { "dash", NULL },
	{ "dep", "deprecated" }, { "di", "defaultignorablecodepoint" }, { "dia", "diacritic" },
	{ "ebase", "emojimodifierbase" }, { "ecomp", "emojicomponent" },
	{ "emod", "emojimodifier" }, { "emoji", NULL }, { "epres", "emojipresentation" },
	{ "ext", "extender" }, { "extpict", "extendedpictographic" }, { "grbase", "graphemebase" },
	{ "grext", "graphemeextend" }, { "hex", "hexdigit" }, { "idc", "idcontinue" },
	{ "ideo", "ideographic" }, { "ids", "idstart" }, { "idsb", "idsbinaryoperator" },
	{ "idst", "idstrinaryoperator" }, { "joinc", "joincontrol" },
	{ "loe", "logicalorderexception" }, { "lower", "lowercase" }, { "math", NULL },
	{ "nchar", "noncharactercodepoint" }, { "patsyn", "patternsyntax" },
	{ "patws", "patternwhitespace" }, { "pcm", "prependedconcatenationmark" },
	{ "qmark", "quotationmark" }, { "radical", NULL }, { "ri", "regionalindicator" },
	{ "sd", "softdotted" }, { "sterm", "sentenceterminal" }, { "term", "terminalpunctuation" },
	{ "uideo", "unifiedideograph" }, { "upper", "uppercase" }, { "vs", "variationselector" },
	{ "wspace", "whitespace" }, { "space", NULL }, { "xidc", "xidcontinue" },
	{ "xids", "xidstart" },
};

/* false: too long, or with something that no name has. */
static bool normalize(char name[NAME_MAX_BYTES], const char *p, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] | 0x20) : p[i];

		if (c == ' ' || c == '-' || c == '_')
			continue;
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) || k + 1 == NAME_MAX_BYTES)
			return false;
		name[k++] = c;
		if (k == 2 && name[0] == 'i' && name[1] == 's' && i + 1 < n)
			k = 0;
	}
	name[k] = '\0';
	return k;
}

static bool is_one_of(const char *name, const char *a, const char *b)
{
	return !strcmp(name, a) || (b && !strcmp(name, b));
}

static bool category(struct rx_escaped *e, const char *name, bool fold)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		const char *text = categories[i].text;
		const bool cased = is_one_of(text, "Lu", "Ll") || !strcmp(text, "Lt");

		if (!is_one_of(name, categories[i].name, categories[i].other))
			continue;
		snprintf(e->text, sizeof(e->text), "\\p{%s}", fold && cased ? "L&" : text);
		return true;
	}
	return false;
}

static bool property(struct rx_escaped *e, const char *name, bool fold)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		const char *text = properties[i].name;

		if (!is_one_of(name, text, properties[i].other))
			continue;
		if (fold && is_one_of(text, "lower", "upper"))
			text = "cased";
		snprintf(e->text, sizeof(e->text), "\\p{%s}", text);
		return true;
	}
	return false;
}

static bool with_value(struct rx_escaped *e, const char *key, const char *value, bool fold)
{
	if (is_one_of(key, "gc", "generalcategory"))
		return category(e, value, fold);
	if (!is_one_of(key, "sc", "script") && !is_one_of(key, "scx", "scriptextensions"))
		return false;
	snprintf(e->text, sizeof(e->text), "\\p{%s:%s}", key[2] == 'x' || key[6] == 'e' ? "scx" :
		 "sc", value);
	return true;
}

bool rx_property(struct rx_escaped *e, const char *p, size_t n, bool fold)
{
	char name[NAME_MAX_BYTES], value[NAME_MAX_BYTES];
	const char *sign = memchr(p, '=', n);
	size_t key;

	if (!sign)
		sign = memchr(p, ':', n);
	if (!sign) {
		if (!normalize(name, p, n))
			return false;
		if (!category(e, name, fold) && !property(e, name, fold))
			snprintf(e->text, sizeof(e->text), "\\p{sc:%s}", name);
		return true;
	}
	key = (size_t)(sign - p);
	if (*sign == '=' && key && p[key - 1] == '!') {
		e->negated = !e->negated;
		key--;
	}
	return normalize(name, p, key) && normalize(value, sign + 1, n - (size_t)(sign + 1 - p)) &&
	       with_value(e, name, value, fold);
}

package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// accepted are texts that every JSON parser accepts and this one too.
var accepted = map[string]string{
	"array_empty": `[]`, "array_empty_string": `[""]`, "array_false": `[false]`, "array_heterogeneous": `[null, 1, "1", {}]`,
	"array_null": `[null]`, "array_newline_and_space": "[1\n]", "array_leading_space": ` [1]`, "array_trailing_space": `[2] `,
	"array_spaces": `[[] ]`, "array_several_null": `[1,null,null,null,2]`,
	"number": `[123e65]`, "number_0e+1": `[0e+1]`, "number_0e1": `[0e1]`, "number_after_space": `[ 4]`, "number_close_to_zero": `[-0.000000000000000000000000001]`,
	"number_int_with_exp": `[20e1]`, "number_minus_zero": `[-0]`, "number_negative_int": `[-123]`, "number_negative_one": `[-1]`,
	"number_capital_e": `[1E22]`, "number_capital_e_neg": `[1E-2]`, "number_capital_e_pos": `[1E+2]`, "number_real_exponent": `[123e45]`,
	"number_real_fraction_exponent": `[123.456e78]`, "number_real_neg_exp": `[1e-2]`, "number_simple_int": `[123]`, "number_simple_real": `[123.456789]`,
	"number_int64_max": `[9223372036854775807]`, "number_above_int64": `[9223372036854775808]`, "number_denormal": `[5e-324]`, "number_underflow": `[1e-4000]`,
	"object": `{"asd":"sdf", "dfg":"fgh"}`, "object_basic": `{"asd":"sdf"}`, "object_empty": `{}`, "object_empty_key": `{"":0}`,
	"object_escaped_null_in_key": `{"foo\u0000bar": 42}`, "object_extreme_numbers": `{ "min": -1.0e+28, "max": 1.0e+28 }`,
	"object_long_strings":   `{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`,
	"object_string_unicode": `{"title":"\u041f\u043e\u043b\u0442\u043e\u0440\u0430" }`, "object_with_newlines": "{\n\"a\": \"b\"\n}", "object_case_variants": `{"a":1,"A":2}`,
	"string_1_2_3_bytes": `["\u0060\u012a\u12AB"]`, "string_surrogate_pair": `["\uD801\udc37"]`, "string_surrogate_pairs": `["\ud83d\ude39\ud83d\udc8d"]`,
	"string_escapes": `["\"\\\/\b\f\n\r\t"]`, "string_backslash_and_u": `["\\u0061"]`, "string_backslash_doublequotes": `["\""]`,
	"string_comments": `["a/*b*/c/*d//e"]`, "string_double_escape_a": `["\\a"]`, "string_escaped_control": `["\u0012"]`, "string_noncharacter": `["\uFFFF"]`,
	"string_last_surrogates": `["\uDBFF\uDFFF"]`, "string_non_character_utf8": "[\"\uffff\"]", "string_null_escape": `["\u0000"]`, "string_pi": `["π"]`,
	"string_U+10FFFF": "[\"\U0010ffff\"]", "string_simple_ascii": `["asd "]`, "string_space": `" "`, "string_u+2028": "[\"\u2028\"]", "string_utf8": `["€𝄞"]`,
	"string_with_del": "[\"a\x7fa\"]", "string_replacement": "[\"\ufffd\"]", "string_three_bytes": `["\u0821"]`,
	"structure_lonely_false": `false`, "structure_lonely_int": `42`, "structure_lonely_negative_real": `-0.1`, "structure_lonely_null": `null`,
	"structure_lonely_string": `"asd"`, "structure_lonely_true": `true`, "structure_string_empty": `""`, "structure_trailing_newline": "[\"a\"]\n",
	"structure_true_in_array": `[true]`, "structure_whitespace_array": " [] ", "structure_all_whitespace": "\t\r\n [ \t\r\n] \t\r\n",
}

// refused are texts that JSON does not allow, and some that only this parser refuses.
var refused = map[string]string{
	"array_1_true_without_comma": `[1 true]`, "array_colon": `["": 1]`, "array_comma_after_close": `[""],`, "array_comma_and_number": `[,1]`,
	"array_double_comma": `[1,,2]`, "array_double_extra_comma": `["x",,]`, "array_extra_close": `["x"]]`, "array_extra_comma": `["",]`, "array_incomplete": `["x"`,
	"array_incomplete_invalid_value": `[x`, "array_inner_no_comma": `[3[4]]`, "array_invalid_utf8": "[\xff]", "array_items_separated_by_semicolon": `[1:2]`,
	"array_just_comma": `[,]`, "array_just_minus": `[-]`, "array_missing_value": `[   , ""]`, "array_newlines_unclosed": "[\"a\",\n4\n,1,", "array_number_and_comma": `[1,]`,
	"array_spaces_vertical_tab": "[\"\va\"\\f]", "array_star_inside": `[*]`, "array_unclosed": `[""`, "array_unclosed_trailing_comma": `[1,`,
	"array_unclosed_with_object": `[{}`, "incomplete_false": `[fals]`, "incomplete_null": `[nul]`, "incomplete_true": `[tru]`, "multidigit_number_then_00": "123\x00",
	"number_++": `[++1234]`, "number_+1": `[+1]`, "number_+Inf": `[+Inf]`, "number_-01": `[-01]`, "number_-1.0.": `[-1.0.]`, "number_-2.": `[-2.]`, "number_-NaN": `[-NaN]`,
	"number_.-1": `[.-1]`, "number_.2e-3": `[.2e-3]`, "number_0.1.2": `[0.1.2]`, "number_0.3e+": `[0.3e+]`, "number_0.3e": `[0.3e]`, "number_0.e1": `[0.e1]`,
	"number_0_capital_E+": `[0E+]`, "number_0_capital_E": `[0E]`, "number_1.0e+": `[1.0e+]`, "number_1.0e-": `[1.0e-]`, "number_1.0e": `[1.0e]`, "number_1_000": `[1 000.0]`,
	"number_1eE2": `[1eE2]`, "number_2.e+3": `[2.e+3]`, "number_9.e+": `[9.e+]`, "number_Inf": `[Inf]`, "number_NaN": `[NaN]`, "number_U+FF11": `[１]`, "number_expression": `[1+2]`,
	"number_hex_1_digit": `[0x1]`, "number_hex_2_digits": `[0x42]`, "number_infinity": `[Infinity]`, "number_invalid+-": `[0e+-1]`, "number_neg_space": `[- 1]`,
	"number_neg_with_garbage": `[-1x]`, "number_octal": `[012]`, "number_real_garbage_after_e": `[1ea]`, "number_real_without_fraction": `[1.]`,
	"number_starting_with_dot": `[.123]`, "number_then_letter": `[1a]`, "number_with_alpha_char": `[1.8011670033376514H-308]`, "number_underscore": `[1_000]`,
	"number_above_float64": `[1e309]`, "number_below_float64": `[-1e309]`,
	"object_bad_value": `["x", truth]`, "object_bracket_key": `{[: "x"}`, "object_comma_instead_of_colon": `{"x", null}`, "object_double_colon": `{"x"::"b"}`,
	"object_emoji": `{🇨🇭}`, "object_garbage_at_end": `{"a":"a" 123}`, "object_key_with_single_quotes": `{key: 'value'}`, "object_lone_continuation_byte": "{\"\xb9\":\"0\"}",
	"object_missing_colon": `{"a" b}`, "object_missing_key": `{:"b"}`, "object_missing_semicolon": `{"a" "b"}`, "object_missing_value": `{"a":`, "object_no_colon": `{"a"`,
	"object_non_string_key": `{1:1}`, "object_repeated_null_null": `{null:null,null:null}`, "object_several_trailing_commas": `{"id":0,,,,,}`, "object_single_quote": `{'a':0}`,
	"object_trailing_comma": `{"id":0,}`, "object_trailing_comment": `{"a":"b"}/**/`, "object_two_commas_in_a_row": `{"a":"b",,"c":"d"}`, "object_unquoted_key": `{a: "b"}`,
	"object_unterminated_value": `{"a":"a`, "object_with_single_string": `{ "foo" : "bar", "a" }`, "object_with_trailing_garbage": `{"a":"b"}#`,
	"object_duplicate": `{"a":1,"a":1}`, "object_duplicate_escaped": `{"a":1,"\u0061":1}`, "object_duplicate_empty": `{"":1,"":1}`,
	"object_duplicate_nested": `[{"b":{"a":1,"c":2,"a":1}}]`, "object_duplicate_far": `{` + manyMembers(40) + `,"k7":1}`, "object_duplicate_at_map": `{` + manyMembers(16) + `,"k7":1}`,
	"single_space": ` `, "string_1_surrogate_then_escape": `["\uD800\"]`, "string_1_surrogate_then_escape_u": `["\uD800\u"]`, "string_1_surrogate_u1": `["\uD800\u1"]`,
	"string_accentuated_char_no_quotes": `[é]`, "string_backslash_00": "[\"\\\x00\"]", "string_escape_x": `["\x00"]`, "string_escaped_backslash_bad": `["\\\"]`,
	"string_escaped_ctrl_char_tab": "[\"\\\t\"]", "string_escaped_emoji": `["\🌀"]`, "string_incomplete_escape": `["\"]`, "string_incomplete_escaped_character": `["\u00A"]`,
	"string_incomplete_surrogate": `["\uD834\uDd"]`, "string_invalid_backslash_esc": `["\a"]`, "string_invalid_unicode_escape": `["\uqqqq"]`,
	"string_invalid_utf8_after_escape": "[\"\\\xe5\"]", "string_leading_uescaped_thinspace": `[\u0020"asd"]`, "string_no_quotes_with_bad_escape": `[\n]`,
	"string_single_doublequote": `"`, "string_single_quote": `['single quote']`, "string_single_string_no_double_quotes": `abc`, "string_start_escape_unclosed": `["\`,
	"string_unescaped_ctrl_char": "[\"a\x00a\"]", "string_unescaped_newline": "[\"new\nline\"]", "string_unescaped_tab": "[\"\t\"]", "string_unicode_CapitalU": `"\UA66D"`,
	"string_with_trailing_garbage": `""x`, "string_lone_high": `["\uD800"]`, "string_lone_low": `["\uDC00"]`, "string_swapped_pair": `["\uDC37\uD801"]`,
	"string_two_high": `["\uD800\uD800"]`, "string_lone_high_in_key": `{"\uD800":1}`, "string_overlong_utf8": "[\"\xc0\xaf\"]", "string_utf8_surrogate": "[\"\xed\xa0\x80\"]",
	"string_above_10FFFF": "[\"\xf4\xbf\xbf\xbf\"]", "string_truncated_utf8": "[\"\xe2\x82\"]", "string_latin1": "[\"\xe9\"]",
	"structure_U+2060_word_joined": "[\u2060]", "structure_UTF8_BOM_no_data": "\ufeff", "structure_UTF8_BOM": "\ufeff{}", "structure_angle_bracket": `<.>`,
	"structure_array_trailing_garbage": `[1]x`, "structure_array_with_extra_close": `[1]]`, "structure_array_with_unclosed_string": `["asd]`, "structure_capitalized_true": `[True]`,
	"structure_close_unopened_array": `1]`, "structure_comma_instead_of_brace": `{"x": true,`, "structure_double_array": `[][]`, "structure_end_array": `]`,
	"structure_lone_open_bracket": `[`, "structure_no_data": ``, "structure_null_byte_outside_string": "[\x00]", "structure_number_with_trailing_garbage": `2@`,
	"structure_object_followed_by_closing": `{}}`, "structure_object_unclosed": `{"asd":"asd"`, "structure_object_with_comment": `{"a":/*comment*/"b"}`,
	"structure_object_with_trailing_garbage": `{"a": true} "x"`, "structure_open_object_apostrophe": `{'a'`, "structure_single_star": `*`, "structure_trailing_hash": `{"a":"b"}#{}`,
	"structure_uescaped_LF": `[\u000A""]`, "structure_unclosed_array_partial_null": `[ false, nul`, "structure_unicode_identifier": `å`, "structure_whitespace_formfeed": "[\f]",
	"structure_nbsp": "[\u00a0]", "structure_mismatched": `[1}`, "structure_mismatched_object": `{"a":1]`, "structure_utf16": "[\x00]\x00",
	"structure_100000_opening_arrays": strings.Repeat("[", 100_000), "structure_open_array_object": strings.Repeat(`[{"":`, 50_000),
}

// onlyHere are the refused texts that encoding/json accepts.
var onlyHere = []string{
	"object_duplicate", "object_duplicate_escaped", "object_duplicate_empty", "object_duplicate_nested", "object_duplicate_far", "object_duplicate_at_map",
	"string_lone_high", "string_lone_low", "string_swapped_pair", "string_two_high", "string_lone_high_in_key", "string_overlong_utf8", "string_utf8_surrogate",
	"string_above_10FFFF", "string_truncated_utf8", "string_latin1", "object_lone_continuation_byte", "number_above_float64", "number_below_float64",
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + string(rune('0'+i%10)) + strings.Repeat("x", i/10) + `":1`)
	}
	return b.String()
}

func TestParsing(t *testing.T) {
	limits := wire.Limits{Size: 1 << 20}
	for name, in := range accepted {
		raw, bad := wire.ParseRaw([]byte(in), limits)
		assert.Empty(t, bad, name)
		assert.Equal(t, strings.TrimSpace(in), string(raw), name)
		assert.True(t, json.Valid([]byte(in)), name)
	}
	loose := map[string]bool{}
	for _, name := range onlyHere {
		loose[name] = true
		assert.Contains(t, refused, name)
	}
	for name, in := range refused {
		raw, bad := wire.ParseRaw([]byte(in), limits)
		assert.NotEmpty(t, bad, name)
		assert.Nil(t, raw, name)
		assert.Equal(t, loose[name], json.Valid([]byte(in)), name)
		for _, v := range bad {
			assert.True(t, utf8.ValidString(v.String()), "%s: %q", name, v.String())
		}
	}
}

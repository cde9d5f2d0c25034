// Package dsl reads the declaration of a set of tools, usually tools.yaml, into
// a checked [File] in which every node knows its position. It knows nothing of
// the Go code that is generated from it.
//
// [Parse] reports every fault of a file in one run, as [Diagnostics]: each with
// file, line and column, the source line with a caret, and a hint that says what
// to write instead. A file that Parse accepts needs no further checks of its
// form: names are legal and do not collide, references lead somewhere, values
// fit their schemas. What needs a regular expression engine (patterns and
// formats) is checked by package gen, which reports with [File.Diagnostic].
//
// docs/declaration.md lists every key; [EditorSchema] is the same for editors.
// The rules that are not about one key follow.
//
// # YAML
//
// A file is one document of at most 1 MiB in UTF-8, nested at most 64 levels.
// Anchors, aliases, merge keys and tags are refused, and so are keys that are
// repeated, that differ only by case or that are not texts.
//
// Plain scalars are read as the core schema of YAML 1.2 reads them, in the
// spelling of JSON only: true, false, null (or nothing), 12, -0.5, 1e3. Other
// spellings of the same (012, 0x1F, +1, .5, True, NULL) are refused, because
// readers disagree on them; the hint shows both ways out. What only YAML 1.1
// reads as something else (yes, off, 1_000, 0b11, 2024-01-31) is text, and an
// error where a boolean or a number is wanted. Numbers keep their digits; they
// have at most 32 characters and an exponent of at most 300.
//
// # Names
//
// Tools, modes and reasons match [a-z][a-z0-9_]{0,63}; types match
// [A-Za-z][A-Za-z0-9_]{0,63}; a property may have any name without control
// characters. Two names of one kind that have the same [GoName] are refused.
// Capabilities, behaviors, groups and the values of modes have at most 64
// letters, digits and . _ : / - and start with a letter or digit.
//
// # Schemas
//
// Inputs, outputs and undo states are objects, written in JSON Schema 2020-12. Every
// keyword of it is read; any other is an error that says what to use instead. A schema is
// typed where Go has a type for its values, and checked where it has none: docs/schemas.md
// says which is which. Of typed schemas:
//
//   - Every property has a description (a $ref may leave it to its target).
//   - Objects are closed unless additionalProperties says otherwise. An object
//     has at most 256 properties. The default of a required property is an annotation.
//   - An input, an output or a state needs no type. One that says nothing of its members
//     may have any.
//   - A reference is "#/types/NAME" or, to the $defs at the root of the same
//     schema, "#/$defs/NAME". A schema with a $ref has only annotations besides: title,
//     description, deprecated, x-sensitive, examples, default. A type may contain
//     itself where a value can end: in an optional or nullable member or an array.
//   - A reference to a file below the declaration makes an entry of types of what it
//     leads to, if [WithFiles] says where that is.
//   - allOf of objects of which no two describe a member differently is one object, closed as a
//     whole, where each member has a description.
//   - The branches of a oneOf that is typed are objects with a required member of one
//     name, whose const string differs in each. [Schema.Tag] is that member.
//   - A nullable type is [T, "null"], or anyOf of T and null; the enum of the first
//     lists null too.
//   - A list of types, and anyOf or oneOf of a type each, is [Schema.ByType]; null may be
//     one of them.
//   - A tuple is prefixItems with items: false; all its elements are required.
//   - Integers fit 64 bits.
//   - default, examples, enum, const and args are checked against the schema, and
//     the message of consent against the members of the input.
//
// $schema may name draft-07 as well, which pasted schemas do, unless the schema has a
// keyword that this draft reads otherwise: prefixItems, or a default next to $ref. An
// object with neither properties nor additionalProperties holds no members here, and any
// in JSON Schema: [File.Warnings] names those.
//
// # Rules
//
// requires_preceding is a list, all of which must have succeeded, or
// {any: true, tools: [a, b]}. max_calls is a number or {max: 20, each: true},
// cooldown a duration or {for: 2s, each: true}; each is for the rules of the whole
// set only, where all tools share one counter and one timer otherwise.
// exclusive_group is a name or a list. The whole set has only
// the rules max_calls and cooldown. continue_loop and exit_loop exclude each
// other, a tool cannot precede itself, and retry needs idempotent: true.
package dsl

// Package gen turns a declaration into the files of a Go package and into what
// policies are checked against. It is pure: a [dsl.File] in, named byte slices
// out, no disk, no clock, the same bytes every time.
//
//	file, err := dsl.Parse("tools.yaml", source)
//	files, err := gen.Generate(file, gen.Options{})
//
// # What is generated
//
// For tools.yaml, in its folder:
//
//   - tools_ambit.go is what an application reads and implements: the names of
//     the tools, Handler, UnimplementedHandler, Tools, and the declarations as
//     plain values. It has no logic.
//   - tools_codec_ambit.go has the types, the rule tables, the strict decoders
//     and one Walk per type, which everything that reads a value goes through.
//   - schemas/TOOL.input.json, .output.json and .undo.json are the published
//     JSON Schemas (2020-12), which the Go code embeds. They say explicitly what
//     a declaration leaves implied: additionalProperties, and that a tuple is complete.
//   - policy/ambit_gen/ has the declarations as data, the published schemas, and
//     for each tool the schema of its policy input with a Rego file that binds it to
//     the tool's package, so that a misspelt field in a policy is an error.
//   - The file that the modeline of tools.yaml names, such as ambit.schema.json, is
//     the schema of declarations for editors.
//
// # How schemas become Go
//
//   - An object is a struct, in the order of the declaration. A member that may
//     be absent is a [wire.Opt], or a pointer when it is an object itself, unless
//     it has a default: then it is a plain field. A required const has no field. An open object keeps its undeclared
//     members in Extra. An object without properties is a map.
//   - type: [T, "null"] is a [wire.Null]; optional and nullable is Opt[Null[T]].
//   - A string enum is a named string type with constants. integer is int64,
//     number is float64.
//   - prefixItems with items: false is a struct with the fields V0, V1, ...
//   - oneOf whose branches are told apart by a const member is a sealed
//     interface; its variants are pointers to structs.
//   - A schema under types or $defs becomes one Go type, shared by all that refer
//     to it. Where a struct would hold itself there is a pointer.
//
// A keyword that cannot be enforced is an error with its position, never ignored.
//
// # Names
//
// file_id becomes FileID ([dsl.GoName]). Names that collide in Go, with each
// other or with what every generated package declares, are refused with both
// places. Every text of a declaration is taken for hostile: nothing in it can
// end a comment, start a directive or become code.
package gen

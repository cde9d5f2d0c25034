// Package dynamic is the tools of a declaration without generated code.
//
//	file, err := dsl.Parse("tools.yaml", source)
//	tools, err := dynamic.Tools(file, func(ctx context.Context, tool string, in wire.Value) (wire.Value, error) {
//		...
//	})
//	registry, err := runtime.NewRegistry(tools...)
//
// It interprets the model from which the generator prints Go, by the same
// functions of package wire. Violations, walks and encodings are therefore
// those of the generated code; a test compares the two over a corpus of
// declarations and inputs. What explains or replays calls uses this package,
// since it has the declaration at hand but not the code.
//
// [Load] gives the types alone, for example to make the output of a stand-in
// handler from JSON text.
package dynamic

// Package console serves pages on which people see what waits for their approval, and answer it.
//
//	h, err := host.Open(ctx, host.Config{
//		Tools: Tools(handler), Policies: policies, Dir: "var",
//		Serve: host.Serve{
//			Addr:  "127.0.0.1:7411",
//			Mount: []func(*host.Host) (string, http.Handler){console.Mount(console.Options{})},
//		},
//	})
//
// Mount prints a URL that signs the user of the process in, once; "ambit console open" prints a fresh
// one. A page is for who is signed in: the operator policy is asked for everything that it shows and
// does, and an answer goes through engine.Executor.Decide, the one door of SEMANTICS section 5. The id of
// who answers comes from the authentication and never from a form.
//
// The pages are forms and links, and work without JavaScript. What a model, a tool or a rule says is
// hostile: every character of a page that changes the direction of writing, is invisible or is a control
// is written as \u{202E}, long values are cut, and no text becomes markup or a link. Every answer has a
// Content-Security-Policy that allows no script, style or frame of another site, and is not cached.
//
// A program that asks for application/json gets the list of requests and a single request as package
// view shows them, and problem details (RFC 9457) for what is refused.
package console

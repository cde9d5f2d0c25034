package runtime

// A Call is one tool call of a model.
type Call struct {
	ID       string // the caller's id, unique in the session; empty: one is made
	Tool     string
	Input    []byte            // JSON
	Metadata map[string]string // for the handler, with that of the run (engine.RunConfig); no policy sees it. It must not be changed

	Principal string // of the call, as by engine.Run.WithPrincipal; empty: that of the run
}

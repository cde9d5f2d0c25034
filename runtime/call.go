package runtime

// A Call is one tool call of a model.
type Call struct {
	ID       string // the caller's id, unique in the session; empty: one is made
	Tool     string
	Input    []byte            // JSON
	Metadata map[string]string // for the handler, with that of the run (engine.RunConfig); no policy sees it. It must not be changed

	Principal string // of the call, as by engine.Run.WithPrincipal; empty: that of the run

	// ProviderID is the id under which the provider of the model knows the call, where ID is one of the program
	// (models.Conversation). It identifies nothing. The metadata of the call have it as ProviderCallID.
	ProviderID string
}

// ProviderCallID is the metadata with the ProviderID of a call, cut to 8 KiB.
const ProviderCallID = "provider_call_id"

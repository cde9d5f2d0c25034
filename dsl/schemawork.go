package dsl

// schemaRoot is what "#" means to the references of one schema: an entry of
// types, an input, an output or a state.
type schemaRoot struct {
	defs     map[string]*NamedSchema
	call     bool   // an input, an output or a state
	node     *node  // the schema itself
	name     string // of the entry of types
	document *Document
}

// schemaWork is one schema while its keywords are read.
type schemaWork struct {
	*Schema
	root  *schemaRoot
	top   bool   // it is the root itself
	owner string // how messages name it
	// requiredAt says where each name of required stands.
	requiredAt map[string]Pos
	node       *node
	union      bool // its branches are read by what they are, not by their keyword
	// noItems is items: false, which only a tuple may say.
	noItems bool
}

// A reference is a $ref that waits for all names to be known.
type reference struct {
	schema *Schema
	root   *schemaRoot
	at     Pos
}

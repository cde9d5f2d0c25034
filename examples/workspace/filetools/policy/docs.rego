# METADATA
# description: What counts as documentation, for every tool that writes.
package ambit.policies.docs

inside(path) if {
	startswith(path, "docs/")
	not ".." in split(path, "/")
}

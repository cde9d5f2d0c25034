# METADATA
# description: What counts as documentation, for every tool that writes.
package ambit.policies.docs

inside(path) if {
	startswith(path, "docs/")
	not ".." in split(path, "/")
}

# What guests are charged by: somebody has to agree to a change.
binding(path) if lower(path) == "docs/fees.md"

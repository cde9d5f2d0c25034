# METADATA
# description: Editing is allowed below docs/ and refused everywhere else. Fees need consent.
package ambit.tools.file_edit

import data.ambit.policies.docs

allow contains {"code": "docs", "message": "docs/ is open for editing"} if docs.inside(input.args.path)

ask contains {"id": "fees", "message": "guests are charged by this file"} if docs.binding(input.args.path)

deny contains {"code": "outside_docs", "message": sprintf("%s is outside docs/", [input.args.path])} if {
	not docs.inside(input.args.path)
}

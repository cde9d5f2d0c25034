# METADATA
# description: The late writer may run, so that its deadline can be seen to hold.
package ambit.tools.slow_write

import data.ambit.policies.docs

allow contains {"code": "docs", "message": "docs/ is open for writing"} if docs.inside(input.args.path)

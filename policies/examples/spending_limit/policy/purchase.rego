# METADATA
# title: Spending limit
# description: |-
#   A policy sees how many calls a run has made and not what they cost. What a run
#   spends is therefore at most limits.purchases times the limit of one purchase.
package ambit.tools.purchase

import data.limits

allow contains {"code": "small", "message": "below the limit that asks"} if total <= limit.ask

ask contains {"id": "large", "message": sprintf("Spend %d cents (%s)", [total, input.args.currency]), "approvers": ["buyer"], "timeout": "1h"} if {
	total > limit.ask
}

deny contains {"code": "over_limit", "message": sprintf("%d cents, and at most %d", [total, limit.most]), "detail": {"most": limit.most}} if {
	total > limit.most
}

deny contains {"code": "too_many", "message": sprintf("%d purchases in a run", [limits.purchases])} if {
	input.run.counts.purchase >= limits.purchases
}

total := input.args.cents * input.args.quantity

# The cost center may be absent: object.get says what holds then. A default of the
# rule catches centers that have no limits of their own.
default limit := {"ask": 0, "most": 0}

limit := limits.cents[object.get(input.args, "center", "default")]

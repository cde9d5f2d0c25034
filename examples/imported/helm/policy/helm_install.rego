# METADATA
# title: Install a chart
# description: Charts of our own registry only, for the namespaces of the teams.
# custom:
#   reasons:
#     privileged: A release may not run privileged containers.
package ambit.tools.helm_install

namespaces := {"search", "shop"}

allow contains {"code": "own_chart", "message": "a chart of ours may be installed for a team"} if {
	startswith(input.args.chart, "oci://registry.example.com/charts/")
	input.args.namespace in namespaces
}

deny contains {"code": "privileged", "message": "a release may not run privileged containers"} if {
	object.get(input.args, ["values", "securityContext", "privileged"], false) == true
}

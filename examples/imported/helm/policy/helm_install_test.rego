package ambit.tools.helm_install_test

import data.ambit.tools.helm_install

call(chart, namespace) := {"args": {"chart": chart, "namespace": namespace}}

test_a_chart_of_ours if {
	count(helm_install.allow) == 1 with input as call("oci://registry.example.com/charts/shop", "shop")
}

test_a_chart_of_others if {
	helm_install.allow == set() with input as call("stable/grafana", "shop")
}

test_a_namespace_of_the_cluster if {
	helm_install.allow == set() with input as call("oci://registry.example.com/charts/shop", "kube-system")
}

test_no_namespace if {
	helm_install.allow == set() with input as {"args": {"chart": "oci://registry.example.com/charts/shop"}}
}

test_privileged if {
	values := {"securityContext": {"privileged": true}}
	{d.code | some d in helm_install.deny} == {"privileged"} with input as {"args": {"chart": "a", "values": values}}
	helm_install.deny == set() with input as {"args": {"chart": "a", "values": {"replicas": 2}}}
}

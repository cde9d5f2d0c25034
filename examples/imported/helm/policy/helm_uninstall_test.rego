package ambit.tools.helm_uninstall_test

import data.ambit.tools.helm_uninstall

test_a_person_is_asked if {
	{e.message | some e in helm_uninstall.ask} == {"the release shop goes away"} with input as {"args": {"name": "shop"}}
}

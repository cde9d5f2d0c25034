package ambit.tools.helm_list_test

import data.ambit.tools.helm_list

test_releases_may_be_listed if {
	count(helm_list.allow) == 1 with input as {"args": {}}
}

package ambit.tools.file_edit_test

import data.ambit.tools.file_edit

test_docs_is_open if {
	count(file_edit.allow) == 1 with input as {"args": {"path": "docs/a.md"}}
	count(file_edit.deny) == 0 with input as {"args": {"path": "docs/a.md"}}
}

test_elsewhere_is_refused if {
	every path in ["src/rates.csv", "docs/../README.md"] {
		count(file_edit.allow) == 0 with input as {"args": {"path": path}}
		some denial in file_edit.deny with input as {"args": {"path": path}}
		denial.code == "outside_docs"
	}
}

test_fees_need_consent if {
	every path in ["docs/fees.md", "docs/Fees.md"] {
		count(file_edit.ask) == 1 with input as {"args": {"path": path}}
	}
	count(file_edit.ask) == 0 with input as {"args": {"path": "docs/a.md"}}
}

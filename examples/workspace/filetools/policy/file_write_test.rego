package ambit.tools.file_write_test

import data.ambit.tools.file_write

test_docs_is_open if {
	count(file_write.allow) == 1 with input as {"args": {"path": "docs/a.md"}}
	count(file_write.deny) == 0 with input as {"args": {"path": "docs/a.md"}}
}

test_elsewhere_is_refused if {
	every path in ["src/rates.csv", "README.md", "docs", "docs/../README.md", "/docs/a.md"] {
		count(file_write.allow) == 0 with input as {"args": {"path": path}}
		some denial in file_write.deny with input as {"args": {"path": path}}
		denial.code == "outside_docs"
	}
}

test_fees_need_consent if {
	every path in ["docs/fees.md", "docs/Fees.md"] {
		count(file_write.ask) == 1 with input as {"args": {"path": path}}
	}
	count(file_write.ask) == 0 with input as {"args": {"path": "docs/a.md"}}
}

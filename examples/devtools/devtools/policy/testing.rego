package ambit.tools.go_test

allow contains {"code": "checkout", "message": "the checkout may be looked at"}

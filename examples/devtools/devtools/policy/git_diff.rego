package ambit.tools.git_diff

allow contains {"code": "checkout", "message": "the checkout may be looked at"}

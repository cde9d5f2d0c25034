package ambit.tools.report_post

allow contains {"code": "report", "message": "reports may be posted"}

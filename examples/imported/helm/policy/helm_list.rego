# METADATA
# title: List releases
# description: Reading is free.
package ambit.tools.helm_list

allow contains {"code": "read", "message": "releases may be listed"}

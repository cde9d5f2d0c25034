# METADATA
# title: Uninstall a release
# description: A person decides.
package ambit.tools.helm_uninstall

ask contains {"id": "removal", "message": sprintf("the release %s goes away", [input.args.name])}

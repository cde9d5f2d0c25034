package author

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/dsl"
)

// NewSchema returns "ambit schema".
func NewSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of declarations, for editors",
		Long: `Schema prints the JSON Schema of tools.yaml. An editor with yaml-language-server
completes and checks a declaration that names the schema in its first line:

  # yaml-language-server: $schema=ambit.schema.json

Of a declaration with such a line "ambit generate" writes the file that it names,
and refreshes it when ambit is newer. Files outside the declaration's folder, URLs
and files that hold another schema stay as they are.`,
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			schema, err := dsl.EditorSchema()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(schema)
			return err
		},
	}
}

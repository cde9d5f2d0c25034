package author

import (
	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
)

// NewSchema returns "ambit schema".
func NewSchema() *cobra.Command {
	var in string
	cmd := &cobra.Command{
		Use:   "schema [--for DIALECT [FILE|DIR]]",
		Short: "Print the JSON Schema of declarations, or those of tools for a model",
		Long: `Schema prints the JSON Schema of tools.yaml. An editor with yaml-language-server
completes and checks a declaration that names the schema in its first line:

  # yaml-language-server: $schema=ambit.schema.json

Of a declaration with such a line "ambit generate" writes the file that it names,
and refreshes it when ambit is newer. Files outside the declaration's folder, URLs
and files that hold another schema stay as they are.

With --for it prints the input schemas of the tools of a declaration, as a JSON list,
in what a provider of models takes of JSON Schema: ` + dialectNames() + `.
Each has notes of what the dialect cannot say; see "ambit check --dialect".`,
		Args: cmdutil.OptionalPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			if in != "" {
				return printSchemas(cmd, args, in)
			}
			if err := cmdutil.NoArguments(cmd, args); err != nil {
				return err
			}
			schema, err := dsl.EditorSchema()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(schema)
			return err
		},
	}
	cmd.Flags().StringVar(&in, "for", "", "print the input schemas of tools in this `dialect`")
	return cmd
}

// printSchemas prints the inputs of a declaration in a dialect.
func printSchemas(cmd *cobra.Command, args []string, name string) error {
	in, err := dialects([]string{name})
	if err != nil {
		return err
	}
	path, err := project.Locate(args)
	if err != nil {
		return err
	}
	d, err := project.Load(path)
	if err != nil {
		return err
	}
	schemas, err := toolSchemas(d, in[0])
	if err != nil {
		return err
	}
	return cmdutil.PrintJSON(cmd.OutOrStdout(), schemas)
}

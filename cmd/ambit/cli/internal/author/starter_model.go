package author

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// A provider is whose model the application asks. Its exported fields are for the templates.
type provider struct {
	Name    string // of the module below runtime/models
	Vendor  string
	Key     string // the environment variable of the key
	Imports []string
	Make    []string // the lines that make the model

	sdk string // path of its module
}

// providers are those that there are modules for.
var providers = []*provider{
	{
		Name: "anthropic", Vendor: "Anthropic", Key: "ANTHROPIC_API_KEY", sdk: "github.com/anthropics/anthropic-sdk-go",
		Imports: []string{`sdk "github.com/anthropics/anthropic-sdk-go"`},
		Make: []string{
			`params := sdk.MessageNewParams{Model: sdk.ModelClaudeSonnet4_6, MaxTokens: 4096}`,
			`model, err := anthropic.New(sdk.NewClient(), executor.Registry(), params)`,
			`if err != nil {`, `	return err`, `}`,
		},
	},
	{
		Name: "openai", Vendor: "OpenAI", Key: "OPENAI_API_KEY", sdk: "github.com/openai/openai-go/v3",
		Imports: []string{`sdk "github.com/openai/openai-go/v3"`, `"github.com/openai/openai-go/v3/responses"`},
		Make: []string{
			`params := responses.ResponseNewParams{Model: sdk.ChatModelGPT5_4}`,
			`model, err := openai.New(sdk.NewClient(), executor.Registry(), params)`,
			`if err != nil {`, `	return err`, `}`,
		},
	},
	{
		Name: "genai", Vendor: "Google", Key: "GEMINI_API_KEY", sdk: "google.golang.org/genai",
		Imports: []string{`sdk "google.golang.org/genai"`},
		Make: []string{
			`client, err := sdk.NewClient(ctx, nil)`, `if err != nil {`, `	return err`, `}`,
			`model, err := genai.New(client, executor.Registry(), "gemini-3-pro", nil)`,
			`if err != nil {`, `	return err`, `}`,
		},
	},
}

// agentFolder is where the program with a model is.
const agentFolder = "agent"

// useModel gives the application a program that asks a model of a provider.
func (a *application) useModel(name string) error {
	i := slices.IndexFunc(providers, func(p *provider) bool { return p.Name == name })
	if i < 0 {
		var known []string
		for _, p := range providers {
			known = append(known, p.Name)
		}
		return cmdutil.Usage("--model "+cmdutil.Quote(name)+" is no provider of models", "there are "+strings.Join(known, ", "))
	}
	a.Model = providers[i]
	if a.Package == agentFolder {
		return cmdutil.Usage("--package "+cmdutil.Quote(a.Package)+" is the folder of the program with the model", "name the package after its tools")
	}
	if a.checkout == "" {
		return nil
	}
	return a.requireAdapter()
}

// Adapter is the module of the provider, below this one.
func (a *application) Adapter() string { return module + "/runtime/models/" + a.Model.Name }

// AdapterReplace is the folder that stands in for it.
func (a *application) AdapterReplace() string {
	return modString(filepath.Join(a.checkout, "runtime", "models", a.Model.Name))
}

// requireAdapter adds what the module of the provider in the checkout requires.
func (a *application) requireAdapter() error {
	dir := filepath.Join(a.checkout, "runtime", "models", a.Model.Name)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return cmdutil.FileProblem(dir, err, "name a checkout that has the module of this provider")
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return cmdutil.FileProblem(dir, err, "name a checkout that has the module of this provider")
	}
	a.sums = mergeSums(a.sums, sums)
	a.Requires = newest(a.Requires, requirements(string(mod)))
	a.Requires = slices.DeleteFunc(a.Requires, func(r string) bool {
		path, version, _ := strings.Cut(r, " ")
		if path == module {
			a.Ambit = version
		}
		return path == module
	})
	return nil
}

// newest returns what two go.mod files require, the newer version of each module.
func newest(one, two []string) []string {
	versions := map[string]string{}
	for _, r := range slices.Concat(one, two) {
		path, version, _ := strings.Cut(r, " ")
		if semver.Compare(version, versions[path]) > 0 {
			versions[path] = version
		}
	}
	var out []string
	for path, version := range versions {
		out = append(out, path+" "+version)
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}

// mergeSums returns the lines of two go.sum files.
func mergeSums(one, two []byte) []byte {
	lines := slices.Concat(slices.Collect(strings.Lines(string(one))), slices.Collect(strings.Lines(string(two))))
	slices.Sort(lines)
	return []byte(strings.Join(slices.Compact(lines), ""))
}

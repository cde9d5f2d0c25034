package dsl

import "github.com/invopop/jsonschema"

// The words of commands.
var (
	wordTier        = word{def: "tier", words: choiceWords(tiers), schema: func() *jsonschema.Schema { return oneWord(list(tiers)...) }}
	wordNetwork     = word{def: "network", words: choiceWords(networks), schema: func() *jsonschema.Schema { return oneWord(list(networks)...) }}
	wordOutputForm  = word{def: "outputForm", words: choiceWords(outputForms), schema: func() *jsonschema.Schema { return oneWord(list(outputForms)...) }}
	wordCategory    = word{def: "category", words: choiceWords(categories), schema: func() *jsonschema.Schema { return oneWord(list(categories)...) }}
	wordEnforcement = word{def: "enforcement", words: choiceWords(levelNames), schema: func() *jsonschema.Schema { return oneWord(list(levelNames)...) }}
	wordRun         = word{def: "run", words: "list of texts and long forms", schema: runSchema}
	wordEnv         = word{def: "env", words: "name to text", schema: func() *jsonschema.Schema { return variablesSchema(`^([^$]|$)|` + hostVariable.String()) }}
	wordCaches      = word{def: "caches", words: "name to folder", schema: func() *jsonschema.Schema { return variablesSchema(folderName.String()) }}
	wordReads       = word{def: "reads", words: "list of paths", schema: func() *jsonschema.Schema { return listOf(textLike(`^/|` + hostVariable.String())) }}
	wordExits       = word{def: "exits", words: "exit code to category, or long form", schema: exitsSchema}
	wordSizeBound   = word{def: "sizeLimit", words: "size, or long form", schema: func() *jsonschema.Schema { return anyOf(refTo(wordSize.def), refTo("sizeBound")) }}
	wordCountBound  = word{def: "countLimit", words: "whole number from 1, or long form", schema: func() *jsonschema.Schema { return anyOf(refTo(wordCount.def), refTo("countBound")) }}
	wordTimeBound   = word{def: "timeLimit", words: "duration, or long form", schema: func() *jsonschema.Schema { return anyOf(refTo(wordDuration.def), refTo("timeBound")) }}
	wordMemory      = word{def: "memoryLimit", words: "size, or long form", schema: func() *jsonschema.Schema { return anyOf(refTo(wordSize.def), refTo("memoryBound")) }}
)

func runSchema() *jsonschema.Schema {
	s := listOf(anyOf(textLike("."), &jsonschema.Schema{Type: "integer"}, refTo("element")))
	s.UniqueItems = false
	return s
}

func variablesSchema(value string) *jsonschema.Schema {
	s := mapOf(variableName.String(), textLike(value))
	s.PropertyNames.Not = oneWord(list(ownVariables)...)
	return s
}

func exitsSchema() *jsonschema.Schema {
	return mapOf(exitCode.String(), anyOf(refTo(wordCategory.def), refTo("exit")))
}

// commandConditions says that a command runs a program or a shell.
func commandConditions(s *jsonschema.Schema) {
	s.OneOf = []*jsonschema.Schema{{Required: []string{"run"}}, {Required: []string{"shell"}}}
}

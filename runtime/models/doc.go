// Package models puts declared tools into the hands of a model.
//
// Definitions says what a model is told of the tools of a registry, in the dialect of its provider.
// A Conversation gives its calls ids. Dispatch carries out the calls of one message and returns one Result for each, with
// the text that the model reads. Loop does both until the run is over:
//
//	loop := models.Loop{Run: run, Model: model}
//	status, err := loop.Do(ctx, "Order 1017 came broken.")
//
// A Model is one method. The modules anthropic, openai and genai below this package have Models for
// the SDKs of these providers; this package links none.
package models

// Package interop holds tests that need libraries which the module must not link: the SDKs of
// OpenTelemetry and CloudEvents, and the library of Standard Webhooks.
package interop

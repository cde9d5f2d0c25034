// Package interop holds tests that need libraries which the module must not link: the SDK of
// OpenTelemetry, and the parser of Prometheus.
package interop

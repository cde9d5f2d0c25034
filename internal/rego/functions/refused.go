package functions

import (
	"slices"
	"strings"
)

// inputOnly is the reason of what would give another answer on another host, or at another time.
const inputOnly = "a decision depends on nothing but its input"

// refused are the functions of OPA that policies may not call, by the reason. Each function of OPA is here or
// in Allowed.
var refused = map[string]string{
	inputOnly: `
		http.send net.lookup_ip_addr opa.runtime rand.intn time.now_ns uuid.rfc4122
		crypto.x509.parse_and_verify_certificates crypto.x509.parse_and_verify_certificates_with_options
		io.jwt.decode_verify io.jwt.encode_sign io.jwt.encode_sign_raw providers.aws.sign_req`,
	"a key or a certificate is no argument of a tool: check it in the handler": `
		crypto.parse_private_keys crypto.x509.parse_certificate_request crypto.x509.parse_certificates
		crypto.x509.parse_keypair crypto.x509.parse_rsa_private_key`,
	"who calls is known before a policy is asked: look at input.principal": `
		io.jwt.decode io.jwt.verify_eddsa io.jwt.verify_es256 io.jwt.verify_es384 io.jwt.verify_es512
		io.jwt.verify_hs256 io.jwt.verify_hs384 io.jwt.verify_hs512 io.jwt.verify_ps256 io.jwt.verify_ps384
		io.jwt.verify_ps512 io.jwt.verify_rs256 io.jwt.verify_rs384 io.jwt.verify_rs512`,
	"the schema of the tool has checked the arguments before; a schema in a policy may refer to the network": `
		json.match_schema json.verify_schema`,
	"a policy does not read policies": `
		rego.metadata.chain rego.metadata.rule rego.parse_module`,
	"a few bytes of an operand can make it take exponential time or memory": `
		bits.lsh graph.reachable_paths net.cidr_expand regex.globs_match`,
	"aliases, fragments or loops of an operand can multiply what is in it": `
		graphql.is_valid graphql.parse graphql.parse_and_verify graphql.parse_query graphql.parse_schema
		graphql.schema_is_valid strings.render_template yaml.is_valid yaml.unmarshal`,
	"an indentation multiplies what is indented: use json.marshal": `
		json.marshal_with_options`,
	"use print in a test": `
		trace`,
	"OPA keeps it for old policies only": `
		all any cast_array cast_boolean cast_null cast_object cast_set cast_string net.cidr_overlap re_match set_diff`,
}

// Refusal returns why policies may not call a function of OPA, "" when they may or OPA has no such function.
func Refusal(name string) string {
	for reason, names := range refused {
		if slices.Contains(strings.Fields(names), name) {
			return reason
		}
	}
	return ""
}

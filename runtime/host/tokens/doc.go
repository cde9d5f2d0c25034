// Package tokens keeps the bearer tokens of the programs and people that reach a host over HTTP.
//
// A token says who its holder is: an id and groups. What the holder may do is the operator policy's.
// [New] makes one. Its text is shown once; a [File] keeps a hash. [File.Verify] tells whose token a
// text is, and when that token is revoked.
//
// # Why a plain hash
//
// The secret part of a token is 256 random bits. SHA-256 of them cannot be reversed by guessing,
// which is what the slow hashes for passwords and their salts are for: people choose passwords from
// few candidates, and no two tokens are equal.
//
// # Writers
//
// A process that changes a File locks it, reads it, and replaces it by a rename. Other processes see
// the old file or the new one. A File reads again when the file was replaced, so a change by another
// process holds for the next request; the streams of a revoked token end at once when the process that
// serves them revokes it, which "ambit token revoke" asks it to do.
package tokens

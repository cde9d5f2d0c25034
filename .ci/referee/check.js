// Lets the vendors' own transforms judge schemas, one a line of the standard input, and writes a line
// for each: its digest, its dialect, its tool, and "same" where the transform of the vendor changes
// nothing. A schema as published is judged by OpenAI's. Every strict schema must be the same.
const { createHash } = require('node:crypto');
const { isDeepStrictEqual } = require('node:util');
const { toStrictJsonSchema } = require('openai/lib/transform');
const { transformJSONSchema } = require('@anthropic-ai/sdk/lib/transform-json-schema');

const transforms = { json_schema: toStrictJsonSchema, openai_strict: toStrictJsonSchema, anthropic_strict: transformJSONSchema };
for (const line of require('node:fs').readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const { tool, dialect, schema } = JSON.parse(line);
  let verdict;
  try {
    verdict = isDeepStrictEqual(transforms[dialect](schema), schema) ? 'same' : 'changed';
  } catch (e) {
    verdict = 'refused: ' + e.message.split('\n')[0];
  }
  console.log([createHash('sha256').update(line).digest('hex').slice(0, 16), dialect, tool, verdict].join(' '));
  if (verdict !== 'same' && dialect !== 'json_schema') {
    console.error(`${tool} in ${dialect}: ${verdict}: ${JSON.stringify(schema)}`);
    process.exitCode = 1;
  }
}

// Holds the strict dialects of runtime/models/dialect to the vendors' own transforms: each schema that
// stands on a line of the standard input must be one that the transform of its vendor changes nothing of.
const { isDeepStrictEqual } = require('node:util');
const { toStrictJsonSchema } = require('openai/lib/transform');
const { transformJSONSchema } = require('@anthropic-ai/sdk/lib/transform-json-schema');

const transforms = { openai_strict: toStrictJsonSchema, anthropic_strict: transformJSONSchema };
const counts = { openai_strict: 0, anthropic_strict: 0 };
let wrong = 0;
for (const line of require('node:fs').readFileSync(0, 'utf8').split('\n')) {
  if (line === '') continue;
  const { tool, dialect, schema } = JSON.parse(line);
  counts[dialect]++;
  let got;
  try {
    got = transforms[dialect](schema);
  } catch (e) {
    got = e.message;
  }
  if (!isDeepStrictEqual(got, schema)) {
    wrong++;
    console.error(`${tool} in ${dialect}: ${JSON.stringify(schema)}\nbecame ${JSON.stringify(got)}`);
  }
}
console.log(JSON.stringify(counts));
if (wrong > 0 || Object.values(counts).some((n) => n < 100)) process.exit(1);

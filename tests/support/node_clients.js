// The official clients in JavaScript against the gateway, in all their forms. Reads the addresses as JSON, prints what
// each form came to as JSON; run in a folder whose node_modules has both packages.
const { createRequire } = require("module");
const load = createRequire(`${process.cwd()}/`);
const OpenAI = load("openai");
const Anthropic = load("@anthropic-ai/sdk");

const ASK = [{ role: "user", content: "Is 4 even?" }];
const WORD = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
const EVEN = {
  type: "object",
  properties: { even: { type: "boolean" }, reason: { type: "string" } },
  required: ["even", "reason"],
  additionalProperties: false,
};
const NAMES = ["look_up", "count"];
const told = ({ constructor, status, code, type, headers, message }) => ({
  name: constructor.name, status, code, type, after: headers?.get("retry-after"), message,
}); // prettier-ignore
const caught = (asked) => asked.then(() => null, told);

async function collected(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

async function openaiForms(client) {
  const chat = client.chat.completions;
  const tools = NAMES.map((name) => ({ type: "function", function: { name, parameters: WORD } }));
  const plain = await chat.create({ model: "any", messages: ASK, temperature: 0 });
  const options = { stream: true, stream_options: { include_usage: true } };
  const chunks = await collected(await chat.create({ model: "any", messages: ASK, temperature: 0, ...options }));
  const format = { type: "json_schema", json_schema: { name: "verdict", strict: true, schema: EVEN } };
  const parsed = await chat.parse({ model: "any", messages: ASK, response_format: format });
  const answered = await client.responses.create({ model: "any", input: "Is 5 even?", temperature: 0 });
  const events = await collected(
    await client.responses.create({ model: "any", input: "Is 5 even?", temperature: 0, stream: true }),
  );
  const embedded = await client.embeddings.create({ model: "any", input: ["one two", "three"] });
  return {
    plain,
    streamed: {
      text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""),
      usage: chunks.at(-1).usage,
    },
    tools: await openaiTools(async (messages) => (await chat.create({ model: "any", messages, tools })).choices[0].message),
    streamed_tools: await openaiTools((messages) => chat.stream({ model: "any", messages, tools }).finalMessage()),
    structured: parsed.choices[0].message.parsed,
    responses: answered.output_text,
    streamed_responses: events.at(-1).response.output.map((item) => item.content[0].text).join(""),
    embeddings: embedded.data.map(({ index, embedding }) => [index, embedding.length]),
  };
}

async function openaiTools(ask) {
  const messages = [...ASK], called = [];
  for (const name of NAMES) {
    const message = await ask(messages);
    const [call] = message.tool_calls;
    called.push([call.function.name, Object.keys(JSON.parse(call.function.arguments))]);
    messages.push(message, { role: "tool", tool_call_id: call.id, content: `${name} done` });
  }
  const last = await ask(messages);
  return { called, last: last.content, more: last.tool_calls?.length ?? 0 };
}

async function anthropicForms(client) {
  const asked = { model: "any", max_tokens: 50, messages: ASK };
  const plain = await client.messages.create({ ...asked, temperature: 0 });
  const streamed = client.messages.stream({ ...asked, temperature: 0 });
  let text = "";
  streamed.on("text", (part) => (text += part));
  const final = await streamed.finalMessage();
  const format = { type: "json_schema", schema: EVEN };
  const structured = await client.messages.create({ ...asked, output_config: { format } });
  const tools = NAMES.map((name) => ({ name, input_schema: WORD }));
  const one = (messages) => client.messages.create({ ...asked, messages, tools });
  const parts = (messages) => client.messages.stream({ ...asked, messages, tools }).finalMessage();
  return {
    plain,
    streamed: { text, usage: final.usage, stop_reason: final.stop_reason },
    tools: await anthropicTools(one),
    streamed_tools: await anthropicTools(parts),
    structured: JSON.parse(structured.content[0].text),
  };
}

async function anthropicTools(ask) {
  const messages = [...ASK], called = [];
  for (const name of NAMES) {
    const reply = await ask(messages);
    const [call] = reply.content;
    called.push([call.name, Object.keys(call.input)]);
    const content = [{ type: "tool_result", tool_use_id: call.id, content: `${name} done` }];
    messages.push({ role: "assistant", content: reply.content }, { role: "user", content });
  }
  const last = await ask(messages);
  return { called, last: last.content[0].text, more: last.content.length - 1 };
}

// Once without a retry of the client's own, then with them.
async function failures(places, make, ask) {
  const found = {};
  for (const [status, place] of Object.entries(places)) {
    const first = await caught(ask(make(place, 0)));
    found[status] = { first, then: await caught(ask(make(place, 2))) };
  }
  return found;
}

async function main({ openai, anthropic, failing }) {
  const ours = ({ root, key }, maxRetries) => new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries });
  const theirs = ({ root, key }, maxRetries) => new Anthropic({ baseURL: root, apiKey: key, maxRetries });
  const chat = (client) => client.chat.completions.create({ model: "any", messages: ASK });
  const message = (client) => client.messages.create({ model: "any", max_tokens: 50, messages: ASK });
  return {
    openai: await openaiForms(ours(openai, 0)),
    anthropic: await anthropicForms(theirs(anthropic, 0)),
    openai_failures: await failures(failing.openai, ours, chat),
    anthropic_failures: await failures(failing.anthropic, theirs, message),
  };
}

let given = "";
process.stdin.on("data", (part) => (given += part));
process.stdin.on("end", async () => console.log(JSON.stringify(await main(JSON.parse(given)))));

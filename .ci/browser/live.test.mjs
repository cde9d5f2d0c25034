// What happens while a page is open shows on it, and moves nothing under the pointer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Host, desk, phone, quiet, staleAfter, tab, until } from "./lib.mjs";

// soon waits for what must show within two seconds, from when the event has happened.
async function soon(what, locator) {
  const begin = Date.now();
  await locator.waitFor();
  const took = Date.now() - begin;
  console.log(`# ${what} showed after ${took} ms`);
  if (process.env.AMBIT_BROWSER_BARS) assert.ok(took <= 2000, `${what}: ${took} ms`);
}

test("a second person decides while the page is open", async () => {
  const host = await Host.open();
  const id = await host.ask();
  const page = await host.person("alice");
  await page.goto(host.url(`/approvals/${id}`));
  await page.getByRole("form", { name: "Answer" }).getByLabel("Message").fill("I was about to");
  await host.do("decide", { id, by: "bob", message: "no" });
  await soon("the answer of bob", page.locator(".state", { hasText: "denied" }));
  assert.equal(await page.getByRole("button", { name: "Deny" }).count(), 0);
  assert.match(await page.locator("#said").textContent(), /denied/);
  await quiet(page);
});

test("one of two approvals shows, and what was typed stays", async () => {
  const host = await Host.open();
  const id = await host.ask("pair");
  const page = await host.person("alice");
  await page.goto(host.url(`/approvals/${id}`));
  const message = page.getByRole("form", { name: "Answer" }).getByLabel("Message");
  await message.fill("I read it");
  await host.do("decide", { id, by: "bob", approve: true, message: "fine" });
  await soon("the vote of bob", page.getByText("bob at", { exact: false }));
  assert.equal(await message.inputValue(), "I read it");
  assert.equal(await message.evaluate((e) => e === document.activeElement), true);
  await quiet(page);
});

test("edited arguments do not come under a button that is about to be pressed", async () => {
  const host = await Host.open();
  const id = await host.ask("pair", "ada", "ten euros");
  const page = await host.person("alice");
  await page.goto(host.url(`/approvals/${id}`));
  await host.do("decide", { id, by: "bob", approve: true, to: "mallory", text: "all of it" });
  await soon("the edit of bob", page.locator("#news", { hasText: "The arguments were changed" }));
  assert.ok(await page.getByText("ten euros").first().isVisible(), "what was read is still there");
  assert.ok(await page.getByRole("button", { name: "Approve once" }).isDisabled());
  await page.getByRole("link", { name: "Show them" }).click();
  await page.getByText("all of it").first().waitFor();
  assert.ok(await page.getByRole("button", { name: "Approve once" }).isEnabled());
  await quiet(page);
});

test("new requests are announced, and the list does not move", async () => {
  const host = await Host.open();
  const first = await host.ask("send", "ada", "one");
  await host.ask("send", "ada", "two");
  const page = await host.person("alice");
  const second = page.locator("[data-id] h2 a").nth(1);
  await second.hover();
  const before = await second.boundingBox();
  await host.ask("soon", "ada", "three"); // it expires before the others: its place is the first
  await soon("a new request", page.locator("#news", { hasText: "1 new request" }));
  assert.match(await page.locator("#said").textContent(), /1 new request/);
  await host.do("decide", { id: first, by: "bob" });
  await soon("a request that was answered", page.locator(".gone", { hasText: "It needs no answer any more." }));
  assert.deepEqual(await second.boundingBox(), before);
  assert.equal(await page.locator("[data-id]").count(), 2);
  await page.getByRole("link", { name: "Show" }).click();
  await page.locator("#news").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".gone").count(), 0);
  await quiet(page);
});

test("an empty list tells of the first request", async () => {
  const host = await Host.open();
  const page = await host.person("alice");
  await page.getByText("Nothing waits").waitFor();
  await host.ask();
  await soon("the first request", page.locator("#news", { hasText: "1 new request" }));
  await quiet(page);
});

test("the time that is left is counted down", async () => {
  const host = await Host.open();
  await host.ask();
  const page = await host.person("alice"); // on the list, where nothing happens
  const seen = new Set();
  await until("it counts", async () => seen.add(await page.locator("[data-expires]").textContent()).size > 2); // one more may come with the page
  for (const text of seen) assert.match(text, /^([0-9]+ min )?([0-9]+ s )?left$/);
  await quiet(page);
});

test("at the end of the time that is left the page says so", async () => {
  const host = await Host.open();
  const id = await host.ask("soon");
  const page = await host.person("alice");
  await page.goto(host.url(`/approvals/${id}`));
  await page.locator(".state", { hasText: "expired" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve once" }).count(), 0);
  await quiet(page);
});

test("a call runs while a person looks", async () => {
  const host = await Host.open();
  const page = await host.person("olga", { groups: ["operators"] });
  await page.goto(host.url("/calls"));
  await host.do("hold", { call: "c1", to: "ada", text: "x" });
  await soon("a new call", page.locator("#news", { hasText: "1 new call" }));
  await page.getByRole("link", { name: "Show" }).click();
  await page.locator("tr", { hasText: "running" }).waitFor();
  await host.do("release");
  await soon("the end of a call in the list", page.locator("tr", { hasText: "completed" }));
  await page.goto(host.url("/calls/s/c1"));
  await page.locator(".state", { hasText: "completed" }).waitFor();
  await quiet(page);
});

test("live output is shown as it comes, and legible", async () => {
  const host = await Host.open();
  const page = await host.person("olga", { groups: ["operators"] });
  await host.ask(); // the stream is open when this shows
  await page.locator("#news").waitFor();
  await page.goto(host.url("/"));
  const other = await page.context().newPage();
  await host.do("hold", { call: "c0", to: "ada", text: "x" });
  await other.goto(host.url("/calls/s/c0"));
  await other.locator("[data-output][data-stream='']").waitFor({ state: "attached" });
  const subject = await other.locator("[data-output][data-stream='']").getAttribute("data-output");
  assert.equal(subject, "sessions/s/calls/c0");
  await host.do("say", { text: "posting letters, " });
  await other.locator("[data-output]", { hasText: "posting" }).waitFor();
  await host.do("say", { text: "\u202eand stamps\u0007, and then <b>a rest</b> that is no secret, however it goes on" });
  await other.locator("[data-output]", { hasText: "posting letters, \\u{202E}and stamps\\u{7}, and then <b>a rest</b>" }).waitFor();
  await host.do("release");
  await other.locator(".state", { hasText: "completed" }).waitFor();
  await quiet(page);
});

test("a browser has one stream, whatever its tabs, and the next tab takes it over", async () => {
  const host = await Host.open();
  const page = await host.person("alice");
  const streams = new Set();
  const watch = (p) => p.on("request", (r) => new URL(r.url()).pathname === "/events" && streams.add(p));
  watch(page);
  await page.reload();
  await until("a stream", () => streams.size === 1);
  const others = [];
  for (let i = 0; i < 7; i++) { // six connections are all that a host takes
    const other = await tab(page.context());
    watch(other);
    await other.goto(host.url("/"));
    others.push(other);
  }
  await host.ask();
  for (const p of [page, ...others]) await p.locator("#news", { hasText: "1 new request" }).waitFor();
  assert.equal(streams.size, 1);
  await page.close();
  await until("another tab follows", () => streams.size === 2);
  await host.ask();
  for (const p of others) await p.locator("#news", { hasText: "2 new requests" }).waitFor();
  assert.equal(streams.size, 2);
  await quiet(others[0]);
});

test("who is signed out is told, and asks no more", async () => {
  const host = await Host.open();
  const page = await host.person("alice", desk);
  await page.waitForLoadState();
  await host.do("end", { id: "alice" });
  await page.locator("#news", { hasText: "You are signed out" }).waitFor();
  // The host has cut the stream off, of which the browser tells.
  page.troubles = page.troubles.filter((text) => !text.includes("ERR_INCOMPLETE_CHUNKED_ENCODING"));
  await quiet(page);
});

for (const [width, context] of [["at 1280", desk], ["at 390", phone]]) {
  test(`of two writes to one file the page of the second says before the click that its approval would be refused, ${width}`, async () => {
    const host = await Host.open();
    const [first, second] = await staleAfter(host, `live, ${width}.md`);
    const page = await host.person("alice", context);
    await page.goto(host.url(`/approvals/${second}`));
    const approve = page.getByRole("button", { name: "Approve once" });
    await approve.waitFor();
    const deny = page.getByRole("button", { name: "Deny" });
    await page.getByRole("form", { name: "Answer" }).getByLabel("Message").fill("I read it");
    const place = async () => Object.values(await deny.boundingBox()).map(Math.round);
    const before = await place();
    const other = await tab(page.context());
    await other.goto(host.url(`/approvals/${first}`));
    await other.getByRole("button", { name: "Approve once" }).click();
    await other.locator(".state", { hasText: "approved, and the call has started" }).waitFor();
    assert.equal(await host.do("await", { id: first }), "completed");
    await page.bringToFront();
    const warning = page.getByRole("region", { name: "An approval has no use" });
    await warning.getByText("binding_mismatch").waitFor();
    assert.match(await warning.textContent(), /what the call would do is not what the preview shows/);
    await until("the button to approve is off", () => approve.isDisabled());
    assert.deepEqual(await place(), before, "and nothing came under the pointer");
    assert.equal(await page.getByRole("form", { name: "Answer" }).getByLabel("Message").inputValue(), "I read it");
    assert.equal(await host.do("status", { id: second }), "open");

    await page.goto(host.url(`/approvals/${second}`)); // who comes now is told the same
    await warning.waitFor();
    assert.ok(await approve.isDisabled());
    await deny.click();
    await page.locator(".state", { hasText: "denied" }).waitFor();
    await quiet(page);
  });
}

test("a run, the journal and the health of the host are followed", async () => {
  const host = await Host.open();
  const id = await host.do("run", { id: "r1", text: "x" });
  const pages = [];
  for (const path of ["/runs/r1", "/audit", "/health"]) {
    const page = await host.person("olga", { groups: ["operators"] });
    await page.goto(host.url(path));
    pages.push(page);
  }
  const [run, audit, health] = pages;
  const waiting = health.locator("dt:has-text('Waiting for an answer') + dd");
  assert.equal(await waiting.textContent(), "1");
  const rows = await audit.locator("[data-id]").count();
  await host.do("decide", { id, by: "alice", approve: true });
  await host.do("await", { id });
  await soon("what became of the call", run.getByRole("row", { name: "r1 asks" }).getByText("completed"));
  await soon("entries", audit.locator("#news", { hasText: /[0-9]+ new entries/ }));
  assert.equal(await audit.locator("[data-id]").count(), rows, "the list does not move");
  await until("nothing waits", async () => (await waiting.textContent()) === "0");
  await quiet(...pages);
});

// What only a browser shows: nothing of an agent becomes markup, no other site gets at a page, and what lets a browser
// in is nowhere else.
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { Host, axe, fits, phone, quiet, until } from "./lib.mjs";

// site serves a page of another origin, and keeps the headers of what comes.
async function site(t, page) {
  const seen = [];
  const server = http.createServer((request, answer) => {
    seen.push(request.headers);
    answer.setHeader("Content-Type", "text/html");
    answer.end(page);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => server.close());
  return { url: `http://localhost:${server.address().port}/`, seen };
}

test("hostile texts are texts", async () => {
  const host = await Host.open();
  const members = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i]));
  const hostile = [
    ...(await host.do("hostile")),
    "x".repeat(1 << 20), // one line
    JSON.stringify(members),
    "[".repeat(128) + "]".repeat(128),
    "<img src=x onerror=alert(1)>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'>",
    "<a href=javascript:alert(1)>x</a><base href=http://evil.example/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
  ];
  assert.ok(hostile.length >= 30);
  const alice = await host.person("alice");
  const olga = await host.person("olga", { groups: ["operators"] });
  for (const [i, text] of hostile.entries()) {
    const id = await host.ask("plan", text, text);
    await host.do("call", { call: `h${i}`, tool: "note", to: text, text });
    await alice.goto(host.url(`/approvals/${id}`));
    await olga.goto(host.url(`/calls/s/h${i}`));
    for (const page of [alice, olga]) {
      assert.equal(await page.locator("h1").count(), 1);
      assert.equal(await page.evaluate(() => document.scripts.length), 1, text.slice(0, 100));
      assert.equal(await page.evaluate(() => document.querySelectorAll("main :is(img, iframe, svg, style, script, object, embed, base, meta, [onerror], [onload])").length), 0);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, text.slice(0, 100));
    }
    await host.do("decide", { id, by: "bob", message: text.slice(0, 1000) });
    await alice.locator(".state", { hasText: "denied" }).waitFor(); // by the script, which parses the page
  }
  for (const path of ["/", "/ended", "/calls", "/grants"]) {
    await olga.goto(host.url(path));
    assert.equal(await olga.evaluate(() => document.scripts.length), 1);
  }
  await quiet(alice, olga);
});

test("100,000 members, and arguments as deep as can be, are pages that a browser takes", async () => {
  const host = await Host.open();
  const alice = await host.person("alice", phone);
  const olga = await host.person("olga", { groups: ["operators"] });
  for (const what of ["members", "items", "depth", "objects"]) {
    const id = await host.do("big", { text: what });
    await alice.goto(host.url(`/approvals/${id}`));
    await olga.goto(host.url(`/calls/s/heap%20${what}`));
    for (const page of [alice, olga]) {
      assert.equal(await page.locator("h1").count(), 1);
      assert.equal(await page.evaluate(() => document.scripts.length), 1);
      assert.equal(await page.locator("main :is(script, b)").count(), 0);
    }
    await fits(alice, what);
    await axe(alice, what);
    await alice.goto(host.url(`/approvals/${id}/arguments`)); // all of them
    assert.ok((await alice.evaluate(() => document.body.textContent.length)) > 128, what);
    await alice.goto(host.url(`/approvals/${id}`));
    await alice.getByRole("button", { name: "Deny" }).click();
    await alice.locator(".state", { hasText: "denied" }).waitFor();
  }
  await quiet(alice, olga);
});

test("no page of another site frames a page, connects to the stream or reads it", async (t) => {
  const host = await Host.open();
  const id = await host.ask();
  const page = await host.person("alice");
  const other = await site(t, `<iframe id=f src="${host.url("/")}"></iframe><form method=post action="${host.url(`/approvals/${id}`)}"><input name=decision value=deny><button>win</button></form>`);
  await page.goto(other.url);
  const frame = page.frames()[1];
  await until("the frame is refused", () => frame.url().startsWith("chrome-error:"));
  const got = await page.evaluate(async ([base]) => {
    const socket = await new Promise((done) => {
      const ws = new WebSocket(`${base.replace("http", "ws")}/stream`);
      ws.onopen = () => done("open");
      ws.onerror = () => done("refused");
    });
    const events = await new Promise((done) => {
      const es = new EventSource(`${base}/events`, { withCredentials: true });
      es.onopen = () => done("open");
      es.onerror = () => done("refused");
    });
    const read = await fetch(`${base}/`, { credentials: "include" }).then(() => "read", () => "refused");
    return { socket, events, read };
  }, [host.base]);
  assert.deepEqual(got, { socket: "refused", events: "refused", read: "refused" });
  await page.getByRole("button", { name: "win" }).click();
  await page.waitForLoadState();
  assert.equal(await host.do("status", { id }), "open");
  await page.context().close(); // the browser has told of all of that
});

test("a link of another site leads to the page, by a reload of its own", async (t) => {
  const host = await Host.open();
  const id = await host.ask();
  const page = await host.person("alice");
  const other = await site(t, `<a href="${host.url(`/approvals/${id}`)}">Look</a>`);
  await page.goto(other.url);
  await page.getByRole("link", { name: "Look" }).click();
  await page.getByRole("button", { name: "Deny" }).waitFor();
  await quiet(page);
});

test("what lets a browser in is in no address, no referrer and no report after that", async (t) => {
  const host = await Host.open();
  const page = await host.person("alice", { anonymous: true });
  const url = await host.do("login", { id: "alice" });
  const ticket = new URL(url).searchParams.get("ticket");
  const other = await site(t, "nothing");
  await page.goto(url);
  assert.equal(page.url(), host.url("/"));
  assert.equal((await page.content()).includes(ticket), false);
  assert.deepEqual(await page.evaluate(() => [document.cookie, document.referrer]), ["", ""], "no script reads the cookie");
  await page.evaluate((to) => (location.href = to), other.url);
  await page.waitForURL(other.url);
  assert.equal(other.seen[0].referer, undefined);
  assert.equal(other.seen[0].cookie, undefined);
  const again = await page.goto(url);
  assert.equal(again.status(), 401, "a ticket is good once");
  assert.equal((await host.do("printed")).includes(ticket), false);
  await quiet(page);
});

test("a secret is on the pages of who may answer alone", async () => {
  const host = await Host.open();
  const id = await host.ask();
  await host.do("call", { call: "c1", tool: "note", to: "ada", text: "x" });
  const pages = ["/", "/ended", "/calls", "/calls/s/c1", "/calls/s/c1/arguments", "/grants", "/tools", "/tools/send", `/approvals/${id}`, `/approvals/${id}/arguments`];
  const events = (page) => page.evaluate(async () => {
    const answer = await fetch("/events?after=0");
    const reader = answer.body.getReader();
    let text = "";
    while (!text.includes("approval.requested")) {
      const { value } = await reader.read();
      text += new TextDecoder().decode(value);
    }
    await reader.cancel();
    return text;
  });
  for (const [id, groups] of [["eve", ["audit"]], ["mallory", []]]) {
    const page = await host.person(id, { groups });
    for (const path of pages) {
      await page.goto(host.url(path));
      assert.equal((await page.content()).includes(host.secret), false, `${id} ${path}`);
    }
    if (groups.length > 0) {
      await page.goto(host.url("/"));
      assert.equal((await events(page)).includes(host.secret), false);
    }
    await quiet(page);
  }
  const alice = await host.person("alice");
  await alice.goto(host.url(`/approvals/${id}`));
  assert.equal((await alice.content()).includes(host.secret), true);
  await quiet(alice);
});

// Every page in every state: without a violation that axe finds, light and dark, and no wider than a phone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Host, axe, desk, fits, phone, quiet, shot, staleAfter, until } from "./lib.mjs";

// stages make hosts with the states that pages have. Each returns its host and pages: a name, a path, who looks,
// and what is done there first.
const alice = { id: "alice" };
const olga = { id: "olga", groups: ["operators", "finance"] };
const stages = {
  async empty() {
    const host = await Host.open();
    return [host, ["/", "/ended", "/calls", "/grants"].map((path) => [`empty ${path}`, path, olga])];
  },

  async waiting() {
    const host = await Host.open();
    const send = await host.ask("send", "ada", "good morning");
    const burn = await host.ask("burn", "ada", "all");
    const plan = await host.ask("plan", "ada", "a long text ".repeat(400));
    const pair = await host.ask("pair", "ada", "x");
    await host.do("decide", { id: pair, by: "bob", approve: true, message: "I have looked at it", to: "bea", text: "less" });
    const click = (name) => (page) => page.getByRole("button", { name }).click();
    const grant = async (page) => {
      await page.locator("details.grant summary").click();
      await page.getByRole("button", { name: "Review the grant..." }).click();
      await page.getByRole("heading", { name: "Is this what you approve?" }).waitFor();
    };
    const edit = (text, then) => async (page) => {
      await page.locator("details.edit summary").click();
      await page.getByLabel("Arguments, as JSON").fill(text);
      await page.getByRole("button", { name: "Review the edit..." }).click();
      await page.getByRole("heading", { name: "Is this what you approve?" }).or(page.locator("details.edit[open]")).waitFor();
      await page.locator(then).first().waitFor();
    };
    return [host, [
      ["waiting", "/", alice],
      ["waiting, filtered", "/?tool=send&effect=write&mine=on", alice],
      ["filtered to nothing", "/?tool=nothing", alice],
      ["open", `/approvals/${send}`, alice],
      ["open, with its grants", `/approvals/${send}`, alice, (page) => page.locator("details.grant summary").click()],
      ["open, for who may not answer", `/approvals/${send}`, { id: "eve", groups: ["audit"] }],
      ["open, destructive", `/approvals/${burn}`, alice],
      ["open, with a preview", `/approvals/${plan}`, alice],
      ["open, edited and approved once", `/approvals/${pair}`, alice],
      ["review of a destructive one", `/approvals/${burn}`, alice, click("Approve once...")],
      ["review of a grant", `/approvals/${send}`, alice, grant],
      ["open, with its edit", `/approvals/${plan}`, alice, (page) => page.locator("details.edit summary").click()],
      ["an edit that is invalid", `/approvals/${plan}`, alice, edit("{", ".notice")],
      ["review of an edit", `/approvals/${plan}`, alice, edit(JSON.stringify({ to: "ada", text: "less", pin: "x" }, null, 2), ".sentence")],
      ["not permitted", `/approvals/${send}`, { id: "mallory" }],
    ]];
  },

  async ended() {
    const host = await Host.open();
    const ids = {};
    for (const how of ["approved", "denied", "granted"]) ids[how] = await host.ask("send", "ada", how);
    await host.do("decide", { id: ids.approved, by: "alice", approve: true, message: "fine" });
    await host.do("decide", { id: ids.denied, by: "bob", message: "not today" });
    await host.do("decide", { id: ids.granted, by: "alice", approve: true, grant: true });
    ids.expired = await host.ask("soon", "ada", "x");
    await until("it is expired", async () => (await host.do("status", { id: ids.expired })) === "expired");
    return [host, [
      ["ended", "/ended", alice],
      ...Object.entries(ids).map(([how, id]) => [how, `/approvals/${id}`, alice]),
      ["grants", "/grants", olga],
      ["calls", "/calls", olga],
      ["a call that was denied", `/calls/s/${await host.do("callof", { id: ids.denied })}`, olga],
    ]];
  },

  async calls() {
    const host = await Host.open();
    await host.do("call", { call: "done", tool: "note", to: "ada", text: "x" });
    await host.do("call", { call: "kept", tool: "file", to: "ada", text: "much ".repeat(600) });
    await host.do("call", { call: "later", tool: "file", to: "ada", text: "y" });
    await host.do("call", { call: "unknown", tool: "post", to: "ada", text: "x" });
    await host.do("call", { call: "none", tool: "nothing", to: "ada", text: "x" });
    await host.do("call", { call: `a call with an id as long as this ${"and longer ".repeat(20)}`, tool: "note", to: "ada", text: "x" });
    await host.do("hold", { call: "running", to: "ada", text: "x" });
    const undo = async (page) => {
      const button = page.getByRole("button", { name: "Undo the call" });
      if ((await button.count()) > 0) await button.click(); // the second time it was undone before
      else await page.goto(host.url("/calls/s/later"));
      await page.locator(".state", { hasText: "was undone" }).waitFor();
    };
    return [host, [
      ["calls", "/calls", olga],
      ["calls, filtered", "/calls?state=unsettled&tool=post", olga],
      ...["done", "kept", "unknown", "none", "running"].map((call) => [`the call ${call}`, `/calls/s/${call}`, olga]),
      ["undo", "/calls/s/kept/undo", olga],
      ["no undo", "/calls/s/done/undo", olga],
      ["undone", "/calls/s/later/undo", olga, undo],
      ["tools", "/tools", alice],
      ["a tool", "/tools/file", alice],
      ["a tool that asks", "/tools/plan", alice],
      ["no page", "/nothing", alice],
      ["sign in", "/approvals/XYZ", null],
    ]];
  },

  async stale() {
    const host = await Host.open();
    const [first, second] = await staleAfter(host, "pages.md");
    const third = await host.ask("write", "pages.md", "three");
    await host.do("decide", { id: first, by: "bob", approve: true });
    await host.do("await", { id: first });
    return [host, [
      ["stale", `/approvals/${second}`, alice],
      ["approved, and can be undone", `/approvals/${first}`, alice],
      ["stale, for who may not answer", `/approvals/${third}`, { id: "eve", groups: ["audit"] }],
    ]];
  },

  async journal() {
    const host = await Host.open();
    const id = await host.do("run", { id: "r1", text: "x" });
    await host.do("decide", { id, by: "alice", approve: true, message: "fine" });
    await host.do("await", { id });
    await host.do("run", { id: `a run with an id as long as this ${"and longer ".repeat(20)}`, text: "y" });
    const verify = async (page) => {
      await page.getByRole("button", { name: "Verify now" }).click();
      await page.getByRole("region", { name: "Verification" }).waitFor();
    };
    return [host, [
      ["timeline", "/runs/r1", olga],
      ["timeline of a long id", `/runs/${encodeURIComponent(`a run with an id as long as this ${"and longer ".repeat(20)}`)}`, olga],
      ["audit", "/audit", olga],
      ["audit, filtered", "/audit?kind=tool.denied&session=s", olga],
      ["audit, filtered to nothing", "/audit?by=nobody", olga],
      ["audit, for who may not", "/audit", { id: "mallory" }],
      ["an entry", "/audit/5", olga],
      ["audit, verified", "/audit", olga, verify],
      ["health", "/health", olga],
    ]];
  },

  async damage() {
    const host = await Host.open();
    await host.do("run", { id: "r1", text: "x" });
    await host.do("damage", { text: "UPDATE entry SET leaf = 'text' WHERE seq = 9" });
    const verify = async (page) => {
      await page.getByRole("button", { name: "Verify now" }).click();
      await page.getByText("The first bad position is").waitFor();
    };
    return [host, [
      ["damaged", "/audit", olga],
      ["an entry that is damaged", "/audit/9", olga, (page) => void (page.allowed = /status of 500/)],
      ["damaged, verified", "/audit", olga, verify],
    ]];
  },

  async full() {
    const host = await Host.open();
    await host.do("flood", { tool: "send", n: 10_000 });
    return [host, [["50 of 10,000", "/", alice]]];
  },
};

for (const [name, make] of Object.entries(stages)) {
  test(`pages: ${name}`, async () => {
    const [host, pages] = await make();
    const found = []; // of all pages, so that one run tells everything
    for (const [scheme, context] of [["light", desk], ["dark", phone]]) {
      const people = new Map();
      for (const [what, path, who, act] of pages) {
        const key = who?.id ?? "";
        if (!people.has(key)) people.set(key, await host.person(key, { ...context, groups: who?.groups, anonymous: !who }));
        const page = people.get(key);
        await page.goto(host.url(path));
        if (act) await act(page);
        await page.waitForLoadState();
        const title = `${what}, ${scheme}`;
        for (const check of context === phone ? [fits, axe] : [axe]) await check(page, title).catch((e) => found.push(e.message));
        await shot(page, `${name} ${title}`);
      }
      await quiet(...people.values());
    }
    assert.deepEqual(found, []);
  });
}

test("the other scheme on each screen, the help and the news", async () => {
  const host = await Host.open();
  const id = await host.ask("plan");
  for (const [name, context] of [["phone", { ...phone, colorScheme: "light" }], ["desk", { ...desk, colorScheme: "dark" }]]) {
    const page = await host.person("alice", context);
    for (const path of ["/", `/approvals/${id}`, "/tools/file"]) {
      await page.goto(host.url(path));
      await axe(page, path);
    }
    await page.goto(host.url("/"));
    await host.ask();
    await page.locator("#news").waitFor();
    await axe(page, "news");
    await shot(page, `news ${name}`);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await axe(page, "help");
    await fits(page, "help");
    await shot(page, `help ${name}`);
    await quiet(page);
  }
});

test("what moves stands still for who wants that, and colors are not all that tells", async () => {
  const host = await Host.open();
  await host.ask("burn");
  const page = await host.person("alice", { ...desk, reducedMotion: "reduce", forcedColors: "active" });
  assert.equal(await page.locator("button").first().evaluate((e) => getComputedStyle(e).transitionDuration), "0s");
  assert.match(await page.locator(".tag").first().textContent(), /destructive/);
  await axe(page, "forced colors");
  await quiet(page);
});

// People answer: by mouse and by keys alone at 1280 pixels, by mouse at 390, and without a script.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Host, desk, phone, press, quiet, until } from "./lib.mjs";

// The ways in which a person works. A way says how to go to what a role and a name describe, and to press it.
const byMouse = {
  press: (page, role, name) => page.getByRole(role, { name, exact: true }).click(),
  type: async (page, label, text) => page.getByLabel(label).filter({ visible: true }).first().fill(text),
};
const byKeys = {
  // press goes there by the key Tab, as who has no mouse does.
  press: async (page, role, name) => {
    const target = page.getByRole(role, { name, exact: true });
    await target.waitFor();
    await tabTo(page, target);
    await page.keyboard.press(role === "radio" || role === "checkbox" ? "Space" : "Enter");
  },
  type: async (page, label, text) => {
    await tabTo(page, page.getByLabel(label).filter({ visible: true }).first());
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type(text);
  },
};

async function tabTo(page, target) {
  const most = 200;
  for (let i = 0; i < most; i++) {
    if (await target.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no key leads to ${target}`);
}

const ways = [
  ["by mouse at 1280", desk, byMouse],
  ["by keys at 1280", desk, byKeys],
  ["by mouse at 390", phone, byMouse],
  ["by mouse without a script", { ...desk, javaScriptEnabled: false }, byMouse],
];

// started waits until the page says that an approved call has started. Without a script a page is what it was when it was loaded,
// which may be before that.
async function started(page, context) {
  await page.locator(".state", { hasText: "approved" }).waitFor();
  const state = page.locator(".state", { hasText: "approved, and the call has started" });
  if (context.javaScriptEnabled === false) {
    await until("the call has started", async () => (await state.count()) > 0 || (await page.reload(), false));
  }
  await state.waitFor();
}

for (const [name, context, way] of ways) {
  describe(name, () => {
    test("approve", async () => {
      const host = await Host.open();
      const id = await host.ask();
      const page = await host.person("alice", context);
      await way.press(page, "link", "Send a letter");
      await page.waitForURL("**/approvals/*");
      await way.press(page, "button", "Approve once");
      await started(page, context);
      assert.equal(await host.do("status", { id }), "used");
      await quiet(page);
    });

    test("approve what is destructive, on a second page", async () => {
      const host = await Host.open();
      const id = await host.ask("burn");
      const page = await host.person("alice", context);
      await page.goto(host.url(`/approvals/${id}`));
      await way.press(page, "button", "Approve once...");
      await page.getByRole("heading", { name: "Is this what you approve?" }).waitFor();
      assert.equal(await host.do("status", { id }), "open");
      await way.press(page, "button", "Yes, approve this");
      await started(page, context);
      assert.equal(await host.do("status", { id }), "used");
      await quiet(page);
    });

    test("deny", async () => {
      const host = await Host.open();
      const id = await host.ask();
      const page = await host.person("alice", context);
      await page.goto(host.url(`/approvals/${id}`));
      await way.type(page, "Message", "not today");
      await way.press(page, "button", "Deny");
      await page.locator(".state", { hasText: "denied" }).waitFor();
      assert.equal(await host.do("status", { id }), "denied");
      await quiet(page);
    });

    test("grant, and revoke", async () => {
      const host = await Host.open();
      const id = await host.ask();
      const page = await host.person("olga", { ...context, groups: ["operators", "finance"] });
      await page.goto(host.url(`/approvals/${id}`));
      await (way === byKeys ? tabTo(page, page.locator("details.grant summary")).then(() => page.keyboard.press("Enter")) : page.locator("details.grant summary").click());
      if (way === byKeys) {
        await tabTo(page, page.locator("input[name=grant]").first());
        await page.keyboard.press("ArrowDown");
      } else {
        await page.getByRole("radio", { name: "until the session ends" }).click();
      }
      await way.press(page, "button", "Review the grant...");
      await page.locator(".sentence", { hasText: "olga lets" }).waitFor();
      assert.equal(await host.do("status", { id }), "open");
      await way.press(page, "button", "Yes, approve this");
      await started(page, context);
      await page.goto(host.url("/grants"));
      await page.getByText("until the session ends").waitFor();
      await way.press(page, "button", "Revoke");
      await page.getByText("There are no grants that you may see.").waitFor();
      await quiet(page);
    });

    test("edit", async () => {
      const host = await Host.open();
      const id = await host.ask("plan", "ada", "ten euros");
      const page = await host.person("alice", context);
      await page.goto(host.url(`/approvals/${id}`));
      const more = page.locator("details.edit summary");
      await (way === byKeys ? tabTo(page, more).then(() => page.keyboard.press("Enter")) : more.click());
      await way.type(page, "Arguments, as JSON", '{"to":"bea","text":"five euros"}');
      await way.press(page, "button", "Review the edit...");
      await page.getByRole("heading", { name: "Is this what you approve?" }).waitFor();
      await page.locator("pre", { hasText: "five euros" }).waitFor();
      assert.equal(await host.do("status", { id }), "open");
      await way.press(page, "button", "Yes, approve this");
      await started(page, context);
      await page.locator("pre", { hasText: "five euros" }).first().waitFor();
      await quiet(page);
    });

    test("undo", async () => {
      const host = await Host.open();
      await host.do("call", { call: "c1", tool: "file", to: "ada", text: "x" });
      const page = await host.person("olga", { ...context, groups: ["operators"] });
      await page.goto(host.url("/calls/s/c1"));
      await way.press(page, "link", "Undo...");
      await page.getByRole("heading", { name: /^Undo/ }).waitFor();
      await way.type(page, "Reason", "wrong letter");
      await way.press(page, "button", "Undo the call");
      await page.locator(".state", { hasText: "was undone" }).waitFor();
      await quiet(page);
    });

    test("resolve", async () => {
      const host = await Host.open();
      assert.equal(await host.do("call", { call: "c1", tool: "post", to: "ada", text: "x" }), "unknown");
      const page = await host.person("olga", { ...context, groups: ["operators"] });
      await page.goto(host.url("/calls/s/c1"));
      await way.type(page, "Reason", "the letter is there");
      await way.press(page, "button", "It took effect");
      await page.locator(".state", { hasText: "completed" }).waitFor();
      await quiet(page);
    });

    test("cancel", async () => {
      const host = await Host.open();
      await host.do("hold", { call: "c1", to: "ada", text: "x" });
      const page = await host.person("olga", { ...context, groups: ["operators"] });
      await page.goto(host.url("/calls/s/c1"));
      await Promise.all([page.waitForResponse((r) => r.request().method() === "POST"), way.press(page, "button", "Cancel the call")]);
      await page.waitForLoadState();
      if (context.javaScriptEnabled === false) {
        await until("it is cancelled", async () => {
          await page.reload();
          return /cancelled/.test(await page.locator(".state").textContent());
        });
      }
      await page.locator(".state", { hasText: "cancelled" }).waitFor();
      await quiet(page);
    });
  });
}

test("keys only focus, and a second press acts", async () => {
  const host = await Host.open();
  const ids = [await host.ask("send", "ada", "one"), await host.ask("burn", "ada", "two"), await host.ask("send", "ada", "three")];
  const page = await host.person("alice");
  const focus = () => page.evaluate(() => document.activeElement.textContent.trim());
  await press(page, "j");
  assert.equal(await focus(), "Send a letter");
  await press(page, "j");
  assert.equal(await focus(), "Burn the letters");
  await press(page, "k", "k", "k");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), `/approvals/${ids[0]}`);
  await press(page, "j", "j", "Enter");
  await page.waitForURL(`**/approvals/${ids[2]}`);
  await press(page, "a");
  assert.equal(await focus(), "Approve once");
  assert.equal(await host.do("status", { id: ids[2] }), "open");
  await press(page, "d");
  assert.equal(await focus(), "Deny");
  assert.equal(await host.do("status", { id: ids[2] }), "open");
  await press(page, "d");
  await page.locator(".state", { hasText: "denied" }).waitFor();

  await page.goto(host.url(`/approvals/${ids[0]}`));
  await page.keyboard.down("a"); // held down, it repeats
  await page.keyboard.down("a");
  await page.keyboard.down("a");
  await page.keyboard.up("a");
  assert.equal(await host.do("status", { id: ids[0] }), "open", "a key that is held down is no second press");
  await page.getByRole("form", { name: "Answer" }).getByLabel("Message").focus();
  await press(page, "a", "a", "d", "d", "?");
  assert.equal(await page.getByRole("form", { name: "Answer" }).getByLabel("Message").inputValue(), "aadd?", "what is typed is no key");
  assert.equal(await host.do("status", { id: ids[0] }), "open");

  await page.goto(host.url(`/approvals/${ids[1]}`));
  await press(page, "a", "a");
  await page.getByRole("heading", { name: "Is this what you approve?" }).waitFor();
  assert.equal(await host.do("status", { id: ids[1] }), "open", "what is destructive has a second button");
  await press(page, "a", "Enter");
  await page.locator(".state", { hasText: "approved, and the call has started" }).waitFor();

  await press(page, "?");
  await page.getByRole("dialog").waitFor();
  await press(page, "Escape");
  await page.goto(host.url("/"));
  await press(page, "/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "tool");
  await quiet(page);
});

test("keys undo", async () => {
  const host = await Host.open();
  await host.do("call", { call: "c1", tool: "file", to: "ada", text: "x" });
  const page = await host.person("olga", { groups: ["operators"] });
  await page.goto(host.url("/calls"));
  await press(page, "j", "Enter");
  await page.waitForURL("**/calls/s/c1");
  await press(page, "u", "u");
  await page.waitForURL("**/undo");
  await press(page, "u", "u");
  await page.locator(".state", { hasText: "was undone" }).waitFor();
  await quiet(page);
});

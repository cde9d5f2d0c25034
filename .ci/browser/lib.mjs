// What the tests of the console share. A test opens a host of its own, over the control of
// runtime/host/console.TestBrowser, and acts in it as people do: by a mouse, by keys, on a phone.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after } from "node:test";
import { chromium } from "playwright-core";

const axeSource = fs.readFileSync(new URL("./node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const out = process.env.AMBIT_BROWSER_OUT ?? "";
if (out) fs.mkdirSync(out, { recursive: true });

const limit = Number(process.env.AMBIT_BROWSER_LIMIT ?? 120_000); // milliseconds for what is waited for
const mutant = process.env.AMBIT_BROWSER_SCRIPT; // a script in the place of that of the console

let browser;

// launch starts the one browser of this process.
async function launch() {
  browser ??= chromium.launch({ executablePath: process.env.AMBIT_BROWSER, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return browser;
}

after(async () => (await browser)?.close());

// order asks the control for something.
async function order(name, fields) {
  const answer = await fetch(`${process.env.AMBIT_CONTROL}/${name}`, { method: "POST", body: JSON.stringify(fields) });
  assert.equal(answer.status, 200, `${name}: ${await answer.clone().text()}`);
  return answer.json();
}

// A Host is one of a test.
export class Host {
  static async open(fields = {}) {
    const host = new Host();
    Object.assign(host, await order("open", fields), { prefix: fields.prefix ?? "" });
    return host;
  }

  do(name, fields = {}) {
    return order(name, { host: this.host, ...fields });
  }

  ask(tool = "send", to = "ada", text = "good morning") {
    return this.do("ask", { tool, to, text });
  }

  url(path) {
    return this.base + this.prefix + path;
  }

  // person returns a page of a browser in which a person is signed in.
  async person(id, options = {}) {
    const { groups = [], anonymous = false, ...context } = options;
    const made = await (await launch()).newContext({ ...desk, ...context });
    made.setDefaultTimeout(limit);
    if (mutant) await made.route(/\/console\.js$/, (route) => route.fulfill({ path: mutant, contentType: "text/javascript; charset=utf-8" }));
    const page = await tab(made);
    page.host = this;
    if (!anonymous) await page.goto(await this.do("login", { id, groups }));
    return page;
  }
}

// staleAfter makes two requests to write one file: when the first has run, the preview of the second is stale.
export async function staleAfter(host, file) {
  return [await host.ask("write", file, "one"), await host.ask("write", file, "two")];
}

export const desk = { viewport: { width: 1280, height: 900 }, colorScheme: "light" };
export const phone = { viewport: { width: 390, height: 844 }, colorScheme: "dark", isMobile: true, hasTouch: false };

// tab opens a page in a context, and counts what must not happen in it.
export async function tab(context) {
  const page = await context.newPage();
  page.troubles = [];
  page.on("dialog", (d) => {
    page.troubles.push(`dialog: ${d.message()}`);
    d.dismiss().catch(() => {});
  });
  page.on("console", (m) => {
    // The browser itself tells of a page with the status of an error.
    if (m.type() === "error" && !/status of (400|401|403|404|409|410)/.test(m.text())) page.troubles.push(`console: ${m.text()}`);
  });
  page.on("pageerror", (e) => page.troubles.push(`error: ${e}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`));
  });
  return page;
}

// quiet wants no dialog, no error of the console, but what page.allowed matches, and no report of the content
// security policy, and closes the browsers.
export async function quiet(...pages) {
  for (const page of pages) {
    assert.deepEqual(page.troubles.filter((t) => !page.allowed?.test(t)), [], page.url());
    await page.context().close();
  }
}

// axe wants no violation of any impact.
export async function axe(page, what) {
  await page.evaluate(axeSource); // the content security policy refuses a script tag
  const found = await page.evaluate(async () => {
    const result = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return result.violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join(" | ")}`);
  });
  assert.deepEqual(found, [], what);
}

// fits wants a page no wider than the screen, no bar of more than a third of its height, and on a phone targets that a
// finger meets.
export async function fits(page, what) {
  const [width, screen, wide] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
    [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("[tabindex]")).map((e) => e.outerHTML.slice(0, 150)),
  ]);
  assert.equal(width, screen, `${what}: ${wide.join(" | ")}`);
  const small = await page.evaluate(() =>
    [...document.querySelectorAll(innerWidth < 640 ? "a, button, input:not([type=hidden]), select, summary" : "nothing")]
      .filter((e) => e.checkVisibility() && !e.matches(".skip, p > a:not([class])"))
      .map((e) => [e, (e.matches("[type=radio], [type=checkbox]") ? e.closest("label") : e).getBoundingClientRect()])
      .filter(([, box]) => box.height < 43.5 || box.width < 43.5)
      .map(([e, box]) => `${Math.round(box.width)}x${Math.round(box.height)} ${e.outerHTML.slice(0, 150)}`),
  );
  assert.deepEqual(small, [], `${what}: targets of less than 44 pixels`);
  const bar = await page.evaluate(() => Math.max(0, ...[...document.querySelectorAll(".bar")].map((e) => e.getBoundingClientRect().height / innerHeight)));
  assert.ok(bar <= 1 / 3 + 0.001, `${what}: the bar has ${bar} of the height`);
  const narrow = await page.evaluate(() => [...document.querySelectorAll("dd")].filter((e) => e.checkVisibility() && e.textContent.trim().length > 3 && e.clientWidth < 80).map((e) => e.outerHTML.slice(0, 100)));
  assert.deepEqual(narrow, [], `${what}: values in columns of a letter`);
}

// shot keeps a picture of a page.
export async function shot(page, name) {
  if (!out) return;
  const was = page.viewportSize();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ ...was, height: Math.max(was.height, Math.min(height, 6000)) }); // what sticks to the bottom is there
  await page.screenshot({ path: `${out}/${name.replaceAll(/[^a-z0-9]+/gi, "-")}.png`, fullPage: true });
  await page.setViewportSize(was);
}

// until waits until a condition holds.
export async function until(what, condition) {
  for (const begin = Date.now(); ; ) {
    if (await condition()) return;
    assert.ok(Date.now() - begin < limit, `${what}: not within ${limit} ms`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// press presses keys one after the other.
export async function press(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

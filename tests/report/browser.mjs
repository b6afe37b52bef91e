// Chromium for tests of pages: starts it once, opens pages of files, and knows what they asked the network for.
//
// GUFO_NODE_MODULES has puppeteer-core, axe-core and html-validate; GUFO_CHROMIUM is another browser.
import {createRequire} from "node:module";
import {existsSync, readFileSync} from "node:fs";

const modules = process.env.GUFO_NODE_MODULES ?? "";
const require = createRequire(`${modules}/`);

export const find = (name) => require(name);

const axe = () => readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const launch = () => find("puppeteer-core").launch({
  executablePath: process.env.GUFO_CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync),
  args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"],
});

// Opens a file.  Returns the page; `asked` lists what it asked for beside itself, `said` what went wrong in it.
export const open = async (browser, path, {width = 1280, dark = false, script = true} = {}) => {
  const page = await browser.newPage();
  const asked = [], said = [];
  await page.setViewport({width, height: 900});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]);
  await page.setJavaScriptEnabled(script);
  page.on("request", (request) => request.isNavigationRequest() || asked.push(request.url()));
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("dialog", (dialog) => { said.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(`file://${path}`);
  return Object.assign(page, {asked, said});
};

// Rules of WCAG 2.2 AA, and what axe recommends beside them, that the page breaks: "rule: place".
export const accessibility = async (page) => {
  await page.evaluate(axe());
  const result = await page.evaluate(() => window.axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  }));
  return result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`));
};

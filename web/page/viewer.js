"use strict";
// The page: files to the worker, answers into tables.  Whatever comes from a file becomes text of nodes, never markup;
// the report alone is markup, which C has written and escaped, and which is parsed where no script runs.
(() => {
  const LIMIT = 64 * 1024 * 1024; // bytes of a tensor that are read; of a larger one rows are sampled
  const LOSS_LIMIT = 16 * 1024 * 1024; // the same where all tensors are read one after the other
  const ROWS = 200; // of a vocabulary, at a time
  const at = (id) => document.getElementById(id);

  // ---- the worker -------------------------------------------------------------------------------

  const worker = new Worker(URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" })));
  const waiting = new Map();
  let asked = 0;
  worker.postMessage({ module: at("module").textContent });
  worker.onmessage = ({ data }) => {
    const done = waiting.get(data.id);
    waiting.delete(data.id);
    document.body.dataset.reads = data.counted.reads;
    document.body.dataset.readBytes = data.counted.bytes;
    done(data);
  };

  // The text of an answer; a failure is thrown as its sentence.
  const askText = (call, values) => new Promise((resolve, reject) => {
    waiting.set(++asked, ({ code, text }) => {
      if (code === 0) return resolve(text);
      let sentence = "the module failed";
      try { sentence = sentenceOf(JSON.parse(text).error); } catch { /* it gave none */ }
      reject(new Error(sentence));
    });
    worker.postMessage({ id: asked, call, ...values });
  });
  const ask = async (call, values) => JSON.parse(await askText(call, values));
  const sentenceOf = (error) =>
    (error.file ? error.file + ": " : "") + (typeof error.offset === "number" ? `byte ${error.offset}: ` : "") + error.message;

  // ---- nodes ------------------------------------------------------------------------------------

  // Characters that would turn a text around, or are not seen, are shown as the command shows them.
  const CONTROLS = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}" +
    "\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}]|[\\u200c\\u200d](?![^\\u0000-\\u007f])|" +
    "[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}](?=[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])", "gu");
  const ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const shown = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "object" && typeof value.base64 === "string") return `(bytes) ${value.base64}`;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return text.replace(CONTROLS, (c) => ESCAPES[c] ?? `\\u{${c.codePointAt(0).toString(16)}}`);
  };
  const cut = (text, most = 300) => (text.length > most ? text.slice(0, most) + "…" : text);

  const node = (name, text, more = {}) => {
    const made = document.createElement(name);
    if (text !== null && text !== undefined) made.textContent = cut(shown(text));
    for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
    return made;
  };

  // A table of rows of texts; columns whose name ends with "#" are numbers.
  const table = (caption, heads, rows) => {
    const made = node("table"), head = made.createTHead().insertRow(), body = made.createTBody();
    made.prepend(node("caption", caption, { class: "hidden" }));
    for (const name of heads)
      head.append(node("th", name.replace(/#$/, ""), { scope: "col", ...(name.endsWith("#") ? { class: "n" } : {}) }));
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach((cell, i) => line.append(cell instanceof Node ? wrap(cell) :
        node("td", cell, heads[i].endsWith("#") ? { class: "n" } : {})));
    }
    return made;
  };
  const wrap = (inner) => { const cell = node("td"); cell.append(inner); return cell; };
  const scrolled = (inner, label) => {
    const made = node("div", null, { class: "tw", tabindex: "0", role: "region", "aria-label": label });
    made.append(inner);
    return made;
  };

  const grouped = (n) => Number(n).toLocaleString("en-US");
  const bytesText = (n) => {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let i = 0;
    for (n = Number(n); n >= 1024 && i < units.length - 1; i++) n /= 1024;
    return (i > 0 ? n.toFixed(n < 10 ? 2 : n < 100 ? 1 : 0) : grouped(n)) + " " + units[i];
  };
  const real = (x) => (typeof x === "number" ? String(Number(x.toPrecision(4))) : shown(x));

  const say = (text, bad = false) => {
    at("status").textContent = shown(text);
    at("status").classList.toggle("bad", bad);
  };
  const failed = (place, failure) => place.replaceChildren(node("p", failure.message, { class: "bad-text" }));

  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // ---- opening ----------------------------------------------------------------------------------

  let model = null, name = "", page = "", generation = 0;

  const byName = (files) => [...files].sort((a, b) => (a.name < b.name ? -1 : 1));

  async function openModel(source, label) {
    const mine = ++generation, begun = performance.now();
    at("report").replaceChildren();
    at("tools").hidden = at("save").hidden = true;
    delete document.body.dataset.state;
    say(`Opening ${label} …`);
    try {
      await askText("open", { place: 0, ...source });
      const shownModel = await ask("show", { place: 0 });
      if (mine !== generation) return;
      model = shownModel;
      name = label;
      prepareTools();
      page = await askText("page", { place: 0 });
      if (mine !== generation) return;
      showReport(false);
      document.body.dataset.openedMs = Math.round(performance.now() - begun);
      say(`${label}: open after ${document.body.dataset.openedMs} ms; ${bytesText(document.body.dataset.readBytes)} of it read`);
      document.title = shown(`${label} · gufo viewer`);
      document.body.dataset.state = "open";
      await askText("check", { place: 0 }); // it looks into the data of every tensor
      page = await askText("page", { place: 0 });
      if (mine !== generation) return;
      showReport(true);
      document.body.dataset.state = "checked";
    } catch (failure) {
      if (mine !== generation) return;
      say(failure.message, true);
      document.body.dataset.state = "failed";
    }
  }

  // The report without its frame.  Its own script, which the policy knows by its hash, runs on it once, as a module:
  // the names in it are its own.
  function showReport(isWhole) {
    const parsed = new DOMParser().parseFromString(page, "text/html");
    const parts = [parsed.querySelector("body > svg.defs"), parsed.querySelector("body > header"),
      ...(parsed.querySelector("main")?.children ?? [])].filter((part) => part !== null);
    for (const part of parts) for (const script of part.querySelectorAll("script")) script.remove();
    at("report").replaceChildren(...parts.map((part) => document.importNode(part, true)));
    at("start")?.remove();
    at("tools").hidden = at("save").hidden = false;
    for (const section of document.querySelectorAll("#tools > section:not([hidden])"))
      at("report").querySelector("nav")?.append(node("a", section.dataset.nav, { href: "#" + section.getAttribute("aria-labelledby") }));
    if (!isWhole) return;
    const script = node("script", null, { type: "module" });
    script.textContent = parsed.querySelector("body > script")?.textContent ?? "";
    at("report").append(script);
  }

  function choose(files) {
    if (files.length > 0) openModel({ files: byName(files) }, byName(files)[0].name);
  }
  at("file").onchange = () => choose(at("file").files);
  at("save").onclick = () => save(name.replace(/\.gguf$/, "") + ".html", "text/html", page);

  let over = 0;
  const isFiles = (event) => [...event.dataTransfer.types].includes("Files");
  addEventListener("dragenter", (event) => { if (isFiles(event)) { over++; document.body.classList.add("drop"); } });
  addEventListener("dragleave", (event) => {
    if (isFiles(event) && --over <= 0) document.body.classList.remove("drop");
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    over = 0;
    document.body.classList.remove("drop");
    choose(event.dataTransfer.files);
  });

  // Addresses: only where the policy of the page allows them, and only those that are typed.
  if (!document.querySelector("meta[http-equiv]").content.includes("connect-src 'none'")) {
    at("remote").hidden = false;
    at("remote").onsubmit = (event) => {
      event.preventDefault();
      openModel({ url: at("url").value }, at("url").value.split(/[?#]/)[0].split("/").pop());
    };
  }

  // ---- tools ------------------------------------------------------------------------------------

  const textOf = (value) => (typeof value === "string" ? value : null);
  const fill = (list, names) => list.replaceChildren(...names.filter((n) => n !== null)
    .map((n) => { const option = document.createElement("option"); option.value = n; return option; }));

  function prepareTools() {
    fill(at("tensor-names"), model.tensors.slice(0, 2000).map((tensor) => textOf(tensor.name)));
    fill(at("key-names"), Object.keys(model.metadata).slice(0, 2000));
    for (const id of ["numbers-result", "compare-result", "vocabulary-result"]) at(id).replaceChildren();
    changes.length = 0;
    showChanges();
    at("vocabulary-part").hidden = !("tokenizer.ggml.tokens" in model.metadata);
    if (!at("vocabulary-part").hidden) findTokens(0);
  }

  // ---- numbers ----------------------------------------------------------------------------------

  at("numbers-form").onsubmit = async (event) => {
    event.preventDefault();
    const index = model.tensors.findIndex((tensor) => tensor.name === at("tensor").value);
    if (index < 0) return failed(at("numbers-result"), new Error("no tensor has this name"));
    at("numbers-result").replaceChildren(node("p", "Reading …", { class: "note" }));
    try {
      showNumbers(await ask("statistics", { index, limit: LIMIT }), model.tensors[index]);
    } catch (failure) { failed(at("numbers-result"), failure); }
  };

  function histogram(stats) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const most = Math.log1p(Math.max(...stats.bins)), width = 100 / stats.bins.length;
    svg.setAttribute("class", "histogram");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", `Histogram from ${real(stats.low)} to ${real(stats.high)}, logarithmic counts`);
    stats.bins.forEach((count, i) => {
      const bar = document.createElementNS(svg.namespaceURI, "rect"), height = count > 0 ? 148 * Math.log1p(count) / most : 0;
      for (const [key, value] of Object.entries({ x: `${i * width}%`, width: `${width * 0.92}%`, y: 150 - height, height }))
        bar.setAttribute(key, value);
      svg.append(bar);
    });
    return svg;
  }

  function showNumbers(stats, tensor) {
    const place = at("numbers-result"), share = (n) => `${grouped(n)} (${real(100 * n / Math.max(stats.elements, 1))} %)`;
    const figure = node("figure"), caption = node("figcaption"), axis = node("p", null, { class: "axis-row" });
    axis.append(node("span", real(stats.low)), node("span", real(stats.high)));
    const extent = stats.sampled
      ? `sampled: ${grouped(stats.rows)} of ${grouped(stats.all_rows)} rows, ${bytesText(stats.read_bytes)}`
      : `all ${grouped(stats.elements)} numbers, ${bytesText(stats.read_bytes)}`;
    const details = node("details");
    details.append(node("summary", "Counts of the histogram"), scrolled(table("Histogram", ["from#", "numbers#"],
      stats.bins.map((count, i) => [real(stats.low + (stats.high - stats.low) * i / stats.bins.length), grouped(count)])), "Counts"));
    caption.append(node("b", `${cut(shown(stats.name), 80)}: numbers from ${real(stats.minimum)} to ${real(stats.maximum)}, deviation ${real(stats.deviation)}.`),
      node("span", ` ${tensor.type}, ${extent}. Bars are counts on a logarithmic scale.`));
    figure.append(caption, histogram(stats), axis, details);
    place.replaceChildren(figure,
      table("Statistics", ["what", "value#"], [
        ["least", real(stats.minimum)], ["greatest", real(stats.maximum)], ["mean", real(stats.mean)],
        ["deviation", real(stats.deviation)], ["zeros", share(stats.zeros)], ["outliers", grouped(stats.outliers)],
        ["NaN or infinite", grouped(stats.nan + stats.infinite)], ["bad scales", grouped(stats.bad_scales)]]));
  }

  // ---- vocabulary -------------------------------------------------------------------------------

  const KINDS = ["", "normal", "unknown", "control", "user", "unused", "byte"];
  let first = 0, matches = 0;

  async function findTokens(from) {
    try {
      const found = await ask("vocabulary", { filter: at("token").value, first: from, count: ROWS });
      first = from;
      matches = found.matches;
      const last = Math.min(first + ROWS, matches);
      at("vocabulary-place").textContent = matches === 0 ? "No token contains that."
        : `Tokens ${grouped(first + 1)} to ${grouped(last)} of ${grouped(matches)}` +
          (matches < found.count ? `, among ${grouped(found.count)}` : "");
      at("vocabulary-result").replaceChildren(table("Tokens", ["id#", "text", "kind", "score#"], found.tokens.map((token) =>
        [token.id, node("code", token.text), KINDS[token.type] ?? token.type, token.score === undefined ? "" : real(token.score)])));
      at("earlier").disabled = first === 0;
      at("later").disabled = last >= matches;
    } catch (failure) { failed(at("vocabulary-result"), failure); }
  }
  at("vocabulary-form").onsubmit = (event) => { event.preventDefault(); findTokens(0); };
  at("earlier").onclick = () => findTokens(Math.max(0, first - ROWS));
  at("later").onclick = () => findTokens(first + ROWS);

  // ---- changes ----------------------------------------------------------------------------------

  const TYPES = ["string", "uint32", "int32", "float32", "bool", "uint64", "int64", "float64", "uint16", "int16", "uint8", "int8",
    "string[]", "int32[]", "uint32[]", "float32[]", "bool[]"];
  const changes = [];
  fill(at("change-type"), []);
  for (const type of TYPES) at("change-type").append(node("option", type));

  const typeOf = (entry) => (entry.type === "array" ? entry.element_type + "[]" : entry.type);

  // What the file has now is the beginning of a change.
  at("change-key").onchange = () => {
    const entry = Object.hasOwn(model.metadata, at("change-key").value) ? model.metadata[at("change-key").value] : undefined;
    if (entry === undefined || at("change-op").value !== "set") return;
    const type = typeOf(entry), isWhole = entry.type !== "array" || entry.count === entry.value.length;
    if (![...at("change-type").options].some((option) => option.value === type)) at("change-type").append(node("option", type));
    at("change-type").value = type;
    at("change-value").value = !isWhole || typeof entry.value === "object" && entry.type !== "array" ? ""
      : entry.type === "array" ? JSON.stringify(entry.value) : String(entry.value);
  };
  at("change-op").onchange = () => {
    const op = at("change-op").value;
    at("change-more").hidden = op === "remove";
    at("change-type").hidden = at("change-type-label").hidden = op !== "set";
  };

  const packed = (list) => list.map((c) => [c.op, c.key, c.type, c.value].map((part) => part.replaceAll("\0", "")).join("\0") + "\0").join("");

  at("change-form").onsubmit = async (event) => {
    event.preventDefault();
    const change = { op: at("change-op").value, key: at("change-key").value, type: at("change-type").value,
      value: at("change-op").value === "remove" ? "" : at("change-value").value };
    try {
      await askText("script", { changes: packed([change]) }); // is it one that the command takes?
      changes.push(change);
      await showChanges();
      say(`Added: ${change.op} ${change.key}`);
    } catch (failure) { say(failure.message, true); }
  };

  async function showChanges() {
    at("changes").replaceChildren(...changes.map((change, i) => {
      const item = node("li"), button = node("button", "Drop", { type: "button", "aria-label": `Drop change ${i + 1}` });
      button.onclick = () => { changes.splice(i, 1); showChanges(); };
      item.append(node("code", `${change.op} ${change.key}${change.op === "remove" ? "" : " = " + change.value}`), button);
      return item;
    }));
    at("script").hidden = at("save-script").hidden = changes.length === 0;
    at("script").firstChild.textContent = changes.length > 0 ? await askText("script", { changes: packed(changes) }) : "";
  }
  at("save-script").onclick = () => save("edit-metadata.sh", "text/x-shellscript", at("script").firstChild.textContent);

  // ---- two models -------------------------------------------------------------------------------

  at("other").onchange = async () => {
    const files = byName(at("other").files), place = at("compare-result");
    if (files.length === 0) return;
    try {
      await askText("open", { place: 1, files });
      showComparison(await ask("compare", {}), files[0].name);
    } catch (failure) { failed(place, failure); }
  };

  const sideText = (side) => (side === undefined ? "" : shown(side.value) + (side.count > 8 ? ` (${grouped(side.count)})` : ""));

  function showComparison(found, other) {
    const shape = (side) => (side === undefined ? "" : `${side.type} ${side.dims.join(" × ")}`);
    const isSame = (pair) => shape(pair.a) === shape(pair.b);
    const isSameShape = (pair) => pair.index !== undefined && pair.a.dims.join() === pair.b.dims.join();
    const pairs = [...found.tensors.filter((pair) => !isSame(pair)), ...found.tensors.filter(isSame)];
    const rows = pairs.map((pair) => {
      const cell = node("span");
      if (pair.index !== undefined) {
        const button = node("button", "Compare", { type: "button" });
        button.setAttribute("aria-label", `Compare the numbers of ${cut(shown(pair.name), 80)}`);
        button.onclick = () => compareNumbers(pair.index, cell);
        cell.append(button);
      }
      return [node("code", pair.name), shape(pair.a), isSame(pair) ? "the same" : shape(pair.b), cell];
    });
    const label = `What ${cut(shown(name), 60)} loses of ${cut(shown(other), 60)}`;
    const button = node("button", label, { type: "button" }), progress = node("span", null, { class: "note" });
    const line = node("p", null, { class: "line" });
    button.onclick = () => computeLosses(found.tensors.filter((pair) => isSameShape(pair)), button, progress);
    line.append(button, progress);
    at("compare-result").replaceChildren(
      node("p", `${found.entries.length === 0 ? "No key differs" : grouped(found.entries.length) + " keys differ"}; ` +
        `${grouped(found.tensors.filter((pair) => !isSame(pair)).length)} of ${grouped(rows.length)} tensors have another type or shape.`),
      line,
      ...(found.entries.length === 0 ? [] : [scrolled(table("Keys that differ", ["key", name, other], found.entries.map((entry) =>
        [node("code", entry.key), sideText(entry.a), sideText(entry.b)])), "Keys that differ")]),
      scrolled(table("Tensors", ["tensor", name, other, "numbers"], rows.slice(0, 5000)), "Tensors of both models"));
  }

  // All of them, one after the other, until somebody stops it; then the report has a section of it.
  async function computeLosses(pairs, button, progress) {
    const mine = generation, label = button.textContent, start = button.onclick;
    let stopped = false;
    button.textContent = "Stop";
    button.onclick = () => { stopped = true; };
    for (let i = 0; i < pairs.length && !stopped && mine === generation; i++) {
      progress.textContent = `${grouped(i)} of ${grouped(pairs.length)} tensors`;
      await ask("compareTensor", { index: pairs[i].index, limit: LOSS_LIMIT }).catch(() => {}); // one that cannot be decoded
    }
    if (mine !== generation) return;
    button.textContent = label;
    button.onclick = start;
    progress.textContent = stopped ? "stopped: the report has what was read by then" : "";
    page = await askText("page", { place: 0 });
    if (mine !== generation) return;
    showReport(true);
    at("losses")?.scrollIntoView();
    say("The report says what is lost");
  }

  async function compareNumbers(index, cell) {
    cell.replaceChildren(node("span", "reading …"));
    try {
      const d = await ask("compareTensor", { index, limit: LIMIT });
      cell.replaceChildren(node("span", d.same ? "equal" : d.loss === undefined ? "not comparable"
        : `error ${real(100 * d.relative)} % of rms, largest ${real(d.largest)}${d.sampled ? " (sampled)" : ""}`));
    } catch (failure) { failed(cell, failure); }
  }
})();

/* SPDX-License-Identifier: MIT */
/*
 * What the page of a report can do beyond being read: another theme, sorting and
 * filtering of the tables, the runs of each metric as dots, and the difference of two
 * flame graphs. The figures are those of the JSON in the page (report-json.md). Text is
 * only ever set as text.
 */
"use strict";
(() => {
const report = JSON.parse(document.getElementById("report").textContent);
const byId = (id) => document.getElementById(id);

function element(name, attributes, text) {
	const e = document.createElement(name);
	for (const k in attributes)
		e.setAttribute(k, attributes[k]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

function svg(name, attributes, text) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const k in attributes)
		e.setAttribute(k, attributes[k]);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

/* Controls, and what turns or hides text, in letters: as the tables have them. */
function visible(text) {
	return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu,
			    (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

/* --- figures, as the tables have them ------------------------------------ */

function three(x) {
	return x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
}

const scales = {
	ns: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
	B: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].map((name, i) => [1024 ** i, name]),
};
scales.bytes = scales.B;

function figure(x, unit) {
	const scale = scales[unit];
	if (x === null || !isFinite(x))
		return "–";
	if (!scale)
		return x.toLocaleString("en", { maximumSignificantDigits: x < 1000 ? 3 : 15 }) +
			(unit ? "\u00a0" + visible(unit) : "");
	let i = 0;
	while (i + 1 < scale.length && x >= scale[i + 1][0])
		i++;
	const part = x / scale[i][0];
	return (Number.isInteger(part) ? part : i ? three(part) : Math.round(part)) + "\u00a0" +
		scale[i][1];
}

function change(base, now) {
	if (base === now)
		return "no change";
	if (!base)
		return "new";
	if (!now)
		return "gone";
	const percent = 100 * (now / base - 1);
	return (percent > 0 ? "+" : "") + percent.toFixed(Math.abs(percent) < 9.95 ? 1 : 0) +
		"\u00a0%";
}

/* --- theme --------------------------------------------------------------- */

function themes() {
	const button = byId("theme"), system = matchMedia("(prefers-color-scheme: dark)");
	const root = document.documentElement;
	const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
	const label = () => { button.textContent = dark() ? "light" : "dark"; };

	button.hidden = false;
	button.setAttribute("aria-label", "switch between light and dark");
	button.addEventListener("click", () => {
		root.dataset.theme = dark() ? "light" : "dark";
		label();
	});
	system.addEventListener("change", label);
	label();
}

/* --- sorting ------------------------------------------------------------- */

/* A cell's number, or its text; a figure that is not there comes last either way. */
function compareCells(a, b, numbers, sign) {
	if (!numbers)
		return sign * a.textContent.localeCompare(b.textContent, "en", { numeric: true });
	const x = a.dataset.key, y = b.dataset.key;
	if (x === undefined || y === undefined)
		return (x === undefined) - (y === undefined);
	return Number(x) === Number(y) ? 0 : sign * (Number(x) < Number(y) ? -1 : 1);
}

function sortBy(table, column, header) {
	const body = table.tBodies[0], rows = Array.from(body.rows);
	const numbers = rows.some((r) => r.cells[column].dataset.key !== undefined);
	const first = numbers && header.classList.contains("n") ? "descending" : "ascending";
	const other = first === "ascending" ? "descending" : "ascending";
	const order = header.getAttribute("aria-sort") === first ? other : first;

	rows.sort((a, b) => compareCells(a.cells[column], b.cells[column], numbers,
					 order === "ascending" ? 1 : -1));
	for (const th of table.tHead.rows[0].cells)
		if (th.hasAttribute("aria-sort"))
			th.setAttribute("aria-sort", "none");
	header.setAttribute("aria-sort", order);
	body.append(...rows);
}

function sortable(table) {
	Array.from(table.tHead.rows[0].cells).forEach((th, column) => {
		const button = element("button", { type: "button" }, th.textContent);

		button.addEventListener("click", () => sortBy(table, column, th));
		th.setAttribute("aria-sort", "none");
		th.replaceChildren(button);
	});
}

/* --- filter -------------------------------------------------------------- */

function filters() {
	const rows = Array.from(byId("metrics").tBodies[0].rows);
	const text = byId("filter"), same = byId("same"), shown = byId("shown");
	const changed = rows.filter((r) => r.dataset.verdict !== "same").length;

	function apply() {
		const wanted = text.value.trim().toLowerCase();
		let n = 0;
		for (const r of rows) {
			r.hidden = !same.checked && r.dataset.verdict === "same" ||
				!r.cells[0].textContent.toLowerCase().includes(wanted) &&
				!r.dataset.verdict.includes(wanted);
			n += !r.hidden;
		}
		shown.textContent = n + " of " + rows.length + " shown";
	}
	same.checked = !changed;
	same.closest("label").hidden = !changed || changed === rows.length;
	text.closest("p").hidden = !rows.length;
	text.addEventListener("input", apply);
	same.addEventListener("change", apply);
	apply();
}

/* --- the runs of a metric ------------------------------------------------ */

const plotSize = { width: 240, height: 52, left: 28, right: 234, base: 11, now: 29, text: 49 };

function median(values) {
	const v = values.slice().sort((a, b) => a - b), half = v.length >> 1;
	return v.length % 2 ? v[half] : (v[half - 1] + v[half]) / 2;
}

/* What is in words for those who do not see the dots. */
function describe(side, values, unit) {
	return side + ": " + values.length + (values.length === 1 ? " run, " : " runs, ") +
		figure(Math.min(...values), unit) + " to " + figure(Math.max(...values), unit) +
		", median " + figure(median(values), unit);
}

function drawSide(plot, side, values, y, x) {
	plot.append(svg("text", { x: 0, y: y + 3 }, side));
	/* Runs of one value lie apart a little. */
	values.forEach((v, i) => plot.append(svg("circle", {
		class: side, cx: x(v).toFixed(1), cy: y + (i * 3 % 5 - 2) * 1.6, r: 2.4,
	})));
	if (values.length) {
		const at = x(median(values)).toFixed(1);
		plot.append(svg("line", { class: side, x1: at, x2: at, y1: y - 8, y2: y + 8 }));
	}
}

function drawMetric(m) {
	const base = m.values.base.filter((v) => v !== null), s = plotSize;
	const now = m.values.new.filter((v) => v !== null), all = base.concat(now);
	const low = Math.min(...all), high = Math.max(...all);
	const x = (v) => high > low ?
		s.left + 4 + (s.right - s.left - 8) * (v - low) / (high - low) :
		(s.left + s.right) / 2;
	const inside = (v) => Math.min(Math.max(x(v), s.left), s.right);
	const words = [["base", base], ["new", now]].filter((side) => side[1].length)
		.map((side) => describe(side[0], side[1], m.unit));
	const plot = svg("svg", { class: "plot", viewBox: `0 0 ${s.width} ${s.height}`, role: "img",
				  "aria-label": words.join("; ") });

	if (m.ci[0] !== null && m.ci[0] < m.ci[1] && high > low) {
		const from = inside(m.base * m.ci[0]), to = inside(m.base * m.ci[1]);
		plot.append(svg("rect", { class: "band", x: from.toFixed(1), y: s.now - 8,
					  width: (to - from).toFixed(1), height: 16 }));
	}
	plot.append(svg("line", { class: "axis", x1: s.left, x2: s.right, y1: 39.5, y2: 39.5 }));
	drawSide(plot, "base", base, s.base, x);
	drawSide(plot, "new", now, s.now, x);
	plot.append(svg("text", { x: s.left, y: s.text }, figure(low, m.unit)));
	if (high > low)
		plot.append(svg("text", { x: s.right, y: s.text, "text-anchor": "end" },
				figure(high, m.unit)));
	return plot;
}

function plots() {
	const table = byId("metrics");
	table.tHead.rows[0].append(element("th", { scope: "col", class: "drawn" }, "distribution"));
	for (const row of table.tBodies[0].rows) {
		const m = report.metrics[row.dataset.metric];
		const cell = element("td", { class: "drawn" });
		if (m.values.base.concat(m.values.new).some((v) => v !== null))
			cell.append(drawMetric(m));
		row.append(cell);
	}
}

/* --- the difference of two flame graphs ---------------------------------- */

const frameHeight = 19, framesMost = 5000;

function node(name, parent) {
	return { name, parent, base: 0, now: 0, wide: 0, children: new Map() };
}

/*
 * A frame is as wide as the larger of its sides, so that what is gone and what is new
 * are both to be seen; parents are as wide as what they called.
 */
function tree(stacks) {
	const root = node("all", null);
	for (const s of stacks) {
		const base = s.base > 0 ? s.base : 0, now = s.new > 0 ? s.new : 0;
		let at = root;
		for (const name of ["", ...s.folded.split(";")]) {
			if (name || at !== root) {
				if (!at.children.has(name))
					at.children.set(name, node(visible(name) || "?", at));
				at = at.children.get(name);
			}
			at.base += base;
			at.now += now;
			at.wide += Math.max(base, now);
		}
	}
	return root;
}

/* How much of a frame's time came or went, in four steps. */
function tint(n) {
	const part = n.wide ? (n.now - n.base) / n.wide : 0, step = Math.ceil(Math.abs(part) * 4);
	if (Math.abs(part) < 0.02)
		return "";
	return (part > 0 ? "more" : "less") + Math.min(step, 4);
}

function frameWords(n) {
	return n.name + ": " + figure(n.base, "ns") + " → " + figure(n.now, "ns") + " a run (" +
		change(n.base, n.now) + ")";
}

function drawFrame(n, x, depth, width) {
	/* An svg of its own cuts the text at the frame's edge. */
	const box = svg("svg", { x: x * 100 + "%", y: depth * frameHeight, width: width * 100 + "%",
				 height: frameHeight });
	const g = svg("g", { class: ("frame " + tint(n)).trim(), role: "treeitem", tabindex: -1,
			     "aria-level": depth + 1, "aria-label": frameWords(n) });
	g.append(svg("rect", { width: "100%", height: frameHeight }));
	if (width > 0.02)
		g.append(svg("text", { x: 4, y: 14 }, n.name));
	box.append(g);
	g.node = n;
	return box;
}

function layOut(graph, root) {
	const found = [];
	let deepest = 0;

	function place(n, x, depth, width) {
		/* What is narrower than a hair is in the table. */
		if (width < 0.0005 || found.length >= framesMost)
			return;
		const box = drawFrame(n, x, depth, width);
		found.push(box.firstChild);
		graph.append(box);
		deepest = Math.max(deepest, depth);
		for (const c of Array.from(n.children.values()).sort((a, b) => b.wide - a.wide)) {
			const part = n.wide ? width * c.wide / n.wide : 0;
			place(c, x, depth + 1, part);
			x += part;
		}
	}
	graph.replaceChildren();
	place(root, 0, 0, 1);
	graph.setAttribute("height", (deepest + 1) * frameHeight);
	found[0].setAttribute("tabindex", 0);
	return found;
}

/* The frame that a key leads to: down to the callee, up to the caller, or beside. */
function neighbour(frames, g, key) {
	const level = (f) => f.getAttribute("aria-level");
	const row = frames.filter((f) => level(f) === level(g));

	switch (key) {
	case "ArrowDown":
		return frames.find((f) => f.node.parent === g.node);
	case "ArrowUp":
		return frames.find((f) => f.node === g.node.parent);
	case "ArrowLeft":
		return row[row.indexOf(g) - 1];
	case "ArrowRight":
		return row[row.indexOf(g) + 1];
	default:
		return undefined;
	}
}

function keys(text, kind) {
	const span = element("span", {});
	span.append(element("span", { class: "key " + kind }), " " + text);
	return span;
}

function flame() {
	const place = byId("flame"), all = place && tree(report.stacks);
	if (!all || !(all.wide > 0))
		return;
	const graph = svg("svg", { role: "tree", "aria-labelledby": "stacks-head" });
	const output = element("output", {}), bar = element("div", { class: "bar" });
	const reset = element("button", { type: "button" }, "whole graph");
	let frames;

	function zoom(n) {
		frames = layOut(graph, n);
		reset.hidden = n === all;
		tell(n);
	}
	function tell(n) {
		output.textContent = frameWords(n);
	}
	function focusOn(g) {
		frames.forEach((f) => f.setAttribute("tabindex", f === g ? 0 : -1));
		g.focus();
	}
	graph.addEventListener("keydown", (event) => {
		const g = event.target.closest(".frame"), key = event.key;
		if (!g)
			return;
		const look = { Enter: g.node, " ": g.node, Escape: all }[key];
		if (!look && !key.startsWith("Arrow"))
			return;
		event.preventDefault();
		if (look)
			zoom(look);
		const next = look ? frames[0] : neighbour(frames, g, key);
		if (next)
			focusOn(next);
	});
	graph.addEventListener("click", (event) => {
		const g = event.target.closest(".frame");
		if (g) {
			zoom(g.node);
			focusOn(frames[0]);
		}
	});
	/* An svg that listened for focus itself would be a stop of the Tab key in Chromium. */
	for (const kind of ["mouseover", "focusin"])
		place.addEventListener(kind, (event) => {
			const g = event.target.closest(".frame");
			if (g)
				tell(g.node);
		});
	reset.addEventListener("click", () => {
		zoom(all);
		focusOn(frames[0]);
	});
	bar.append(keys("more than in the base", "more"), keys("less", "less"),
		   keys("as much", "even"), reset);
	const legend = element("p", { class: "legend" },
		"A frame is as wide as the larger of its two times. Arrow keys move, Enter looks " +
		"closer, Escape goes back.");
	place.append(bar, legend, output, graph);
	place.hidden = false;
	zoom(all);
}

themes();
document.querySelectorAll("table.sortable").forEach(sortable);
filters();
plots();
flame();
})();

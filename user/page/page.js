// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page of `serve`: asks for the commands' JSON once a second and shows what changed.
"use strict";

const ASK_MS = 1000;
const KEEP_SECONDS = 900;
const EVENTS_SHOWN = 200;
const SOURCES_SHOWN = 20;

const at = (id) => document.getElementById(id);

const state = {
	chosen: null,   // the interface
	paused: false,
	points: [],     // {time, passed, dropped, bits}: rates per second
	last: null,     // {time, status}
	cursor: null,   // how many points from the end the reading stands
	sources: new Map(), // what each had the last time: for its rate
	events: null,   // where the next events begin
};

// ---- text ----------------------------------------------------------------------------------------

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function short(number) {
	if (number === null || number === undefined || Number.isNaN(number))
		return "–";
	for (const [size, prefix] of PREFIXES)
		if (number >= size * 0.99995)
			return (number / size).toFixed(number < 10 * size ? 2 : 1) + " " + prefix;
	return number < 10 && number % 1 ? number.toFixed(1) : Math.round(number).toString();
}

const exact = (number) => number === null || number === undefined ? "–" : number.toLocaleString("en-US");

function since(seconds) {
	const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
	for (const [size, name] of units)
		if (seconds >= size)
			return Math.floor(seconds / size) + " " + name;
	return "0 s";
}

const clock = (seconds) => Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");

function element(name, attributes, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		made.setAttribute(key, value);
	made.append(...children);
	return made;
}

// Only what changed is touched, so that focus, selection and screen readers are left in peace.
function write(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

function writeFacts(list, facts) {
	if (list.childElementCount !== facts.length)
		list.replaceChildren(...facts.map(() =>
			element("div", {}, element("dt"), element("dd"))));
	facts.forEach(([name, value], i) => {
		write(list.children[i].children[0], name);
		write(list.children[i].children[1], value);
	});
}

// rows: arrays of texts; the first one heads its row. losing: the column that is marked when not 0.
function writeTable(table, head, rows, losing) {
	if (!table.tHead) {
		table.append(element("thead", {}, element("tr", {},
			...head.map((name) => element("th", {scope: "col"}, name)))), element("tbody"));
	}
	const body = table.tBodies[0];
	while (body.rows.length > rows.length)
		body.deleteRow(-1);
	while (body.rows.length < rows.length) {
		const row = body.insertRow();
		head.forEach((name, i) => row.append(i ? element("td") : element("th", {scope: "row"})));
	}
	rows.forEach((cells, i) => cells.forEach((text, j) => {
		const cell = body.rows[i].children[j];
		write(cell, text);
		cell.classList.toggle("losing", j === losing && text !== "0" && text !== "–");
	}));
}

// ---- what is asked -------------------------------------------------------------------------------

async function ask(path, query) {
	const words = new URLSearchParams(query || {});
	const answer = await fetch(path + (words.size ? "?" + words : ""), {cache: "no-store"});
	const body = await answer.json();
	if (!answer.ok)
		throw Object.assign(new Error(body.error || answer.statusText), {status: answer.status, body});
	return body;
}

const interfaceQuery = (more) => state.chosen ? {interface: state.chosen, ...more} : {...more};

function trouble(text) {
	at("trouble").hidden = !text;
	write(at("trouble"), text || "");
}

// ---- interfaces ----------------------------------------------------------------------------------

function offer(names) {
	const select = at("interface");
	const there = [...select.options].map((option) => option.value);
	if (names.length !== there.length || names.some((name, i) => name !== there[i]))
		select.replaceChildren(...names.map((name) => element("option", {value: name}, name)));
	if (!names.includes(state.chosen))
		choose(names[0]);
	select.value = state.chosen;
}

function choose(name) {
	state.chosen = name;
	state.points = [];
	state.last = null;
	state.cursor = null;
	state.events = null;
	state.sources.clear();
	at("events").replaceChildren();
	for (const id of ["limits", "sources", "reasons"])
		at(id).replaceChildren();
}

async function findInterfaces() {
	const names = (await ask("v1/interfaces")).map((entry) => entry.interface);
	if (!names.length)
		throw new Error("No limiter is attached. Start one: xdp-limit attach IFACE --rate 1000pps");
	offer(names);
}

// ---- rates ---------------------------------------------------------------------------------------

// A counter that went back was reset, or another program counts: no rate then.
function rate(now, before, seconds) {
	return now >= before && seconds > 0 ? (now - before) / seconds : null;
}

function takePoint(status, time) {
	const before = state.last;
	const sum = status.totals;
	state.last = {time, status};
	if (!before)
		return null;
	const seconds = (time - before.time) / 1000, old = before.status.totals;
	const point = {
		time,
		passed: rate(sum.passed_packets, old.passed_packets, seconds),
		dropped: rate(sum.dropped_packets, old.dropped_packets, seconds),
		bits: rate(8 * sum.bytes, 8 * old.bytes, seconds),
	};
	state.points.push(point);
	while (state.points.length && state.points[0].time < time - KEEP_SECONDS * 1000)
		state.points.shift();
	return before;
}

function showNow(status) {
	const point = state.points[state.points.length - 1] || {passed: null, dropped: null, bits: null};
	const all = point.passed === null || point.dropped === null ? null : point.passed + point.dropped;
	writeFacts(at("tiles"), [
		["packets seen", short(all) + "/s"],
		["dropped", short(point.dropped) + "/s"],
		["share dropped", all ? (100 * point.dropped / all).toFixed(1) + " %" : "–"],
		["traffic", point.bits === null ? "–" : short(point.bits).replace(/\d$/, "$& ") + "bit/s"],
		["dropped in all", exact(status.totals.dropped_packets)],
		["would drop in all", exact(status.totals.would_drop_packets)],
	]);
}

// ---- plot ----------------------------------------------------------------------------------------

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = {left: 58, right: 74, top: 14, bottom: 24};
const HEIGHT = 240;

function drawn(name, attributes, text) {
	const made = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

function ceiling(most) {
	const power = 10 ** Math.floor(Math.log10(Math.max(most, 10)));
	for (const step of [1, 2, 5, 10])
		if (step * power >= most)
			return step * power;
	return 10 * power;
}

// A gap where there is no rate: nothing is drawn through what wasn't measured.
function path(points, key, x, y) {
	let line = "", open = false;
	for (const point of points) {
		open = open && point[key] !== null;
		if (point[key] !== null) {
			line += (open ? "L" : "M") + x(point.time).toFixed(1) + " " + y(point[key]).toFixed(1);
			open = true;
		}
	}
	return line;
}

// The names at the ends of the lines are kept apart.
function namePlaces(last, y) {
	let passed = y(last.passed || 0), dropped = y(last.dropped || 0);
	if (Math.abs(passed - dropped) < 14) {
		const middle = (passed + dropped) / 2, sign = passed <= dropped ? -1 : 1;
		passed = middle + sign * 7;
		dropped = middle - sign * 7;
	}
	return {passed, dropped};
}

function drawPlot() {
	const box = at("plot"), width = box.clientWidth || 600;
	const seconds = Number(at("span").value);
	const end = state.points.length ? state.points[state.points.length - 1].time : Date.now();
	const points = state.points.filter((point) => point.time >= end - seconds * 1000);
	const most = ceiling(Math.max(0, ...points.map((point) => Math.max(point.passed, point.dropped))));
	const right = width - MARGIN.right, bottom = HEIGHT - MARGIN.bottom;
	const x = (time) => right - (end - time) / (seconds * 1000) * (right - MARGIN.left);
	const y = (value) => bottom - value / most * (bottom - MARGIN.top);
	const svg = drawn("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true"});

	for (const part of [0, 0.25, 0.5, 0.75, 1]) {
		svg.append(drawn("line", {class: "grid-line", x1: MARGIN.left, x2: right,
			y1: y(part * most), y2: y(part * most)}));
		svg.append(drawn("text", {x: MARGIN.left - 8, y: y(part * most) + 4, "text-anchor": "end"},
			short(part * most)));
	}
	for (const part of [0, 0.5, 1])
		svg.append(drawn("text", {x: x(end - part * seconds * 1000), y: HEIGHT - 6,
			"text-anchor": "middle"}, part ? "−" + clock(part * seconds) : "now"));
	for (const key of ["passed", "dropped"])
		svg.append(drawn("path", {class: key + "-line", d: path(points, key, x, y)}));
	if (points.length) {
		const places = namePlaces(points[points.length - 1], y);
		for (const key of ["passed", "dropped"])
			svg.append(drawn("text", {class: key + "-name", x: right + 6, y: places[key] + 4}, key));
	}
	readPlot(svg, points, x, bottom);
	box.replaceChildren(svg);
}

function readPlot(svg, points, x, bottom) {
	if (state.cursor === null || !points.length) {
		write(at("plot-reading"), points.length ? "Move over the plot, or use the arrow keys, to read it." :
			"The first rates come after two answers.");
		return;
	}
	state.cursor = Math.min(state.cursor, points.length - 1);
	const point = points[points.length - 1 - state.cursor];
	svg.append(drawn("line", {class: "cursor-line", x1: x(point.time), x2: x(point.time),
		y1: MARGIN.top, y2: bottom}));
	write(at("plot-reading"), new Date(point.time).toLocaleTimeString() + ": passed " +
		short(point.passed) + "/s, dropped " + short(point.dropped) + "/s");
}

function moveCursor(event) {
	const steps = {ArrowLeft: 1, ArrowRight: -1, PageUp: 10, PageDown: -10};
	if (event.key === "Escape")
		state.cursor = null;
	else if (event.key in steps)
		state.cursor = Math.max(0, (state.cursor || 0) + steps[event.key]);
	else
		return;
	event.preventDefault();
	drawPlot();
}

function pointCursor(event) {
	const box = at("plot").getBoundingClientRect();
	const right = box.width - MARGIN.right, wide = right - MARGIN.left;
	const back = (right - (event.clientX - box.left)) / wide * Number(at("span").value) * 1000;
	const end = state.points.length ? state.points[state.points.length - 1].time : 0;
	let best = null;
	state.points.forEach((point, i) => {
		const far = Math.abs(end - back - point.time);
		if (!best || far < best.far)
			best = {far, cursor: state.points.length - 1 - i};
	});
	state.cursor = best ? best.cursor : null;
	drawPlot();
}

// ---- tables --------------------------------------------------------------------------------------

function showLimits(status, before, time) {
	const seconds = before ? (time - before.time) / 1000 : 0;
	const rows = Object.entries(status.limits).map(([name, limit]) => {
		const old = before && before.status.limits[name];
		return [name,
			old ? short(rate(limit.passed_packets, old.passed_packets, seconds)) : "–",
			old ? short(rate(limit.dropped_packets, old.dropped_packets, seconds)) : "–",
			exact(limit.passed_packets), exact(limit.dropped_packets),
			exact(limit.would_drop_packets)];
	});
	writeTable(at("limits"), ["limit", "passed/s", "dropped/s", "passed", "dropped", "would drop"], rows, 2);
}

function showReasons(status) {
	const rows = Object.entries(status.reasons)
		.filter(([, reason]) => reason.packets)
		.map(([name, reason]) => [name.replaceAll("_", " "),
			exact(reason.packets - reason.dropped_packets), exact(reason.dropped_packets),
			exact(reason.bytes)]);
	writeTable(at("reasons"), ["reason", "passed", "dropped", "bytes"], rows, 2);
}

function showTable(status) {
	const table = status.table, gate = table.gate;
	const facts = [
		["type", table.type],
		["entries", exact(table.used) + " of " + exact(table.capacity) +
			" (" + (100 * table.fill).toFixed(1) + " %)"],
		["created", exact(table.created)],
		["evicted", exact(table.evicted) +
			(table.evicted_live === null ? "" : ", " + exact(table.evicted_live) + " in debt")],
		["insert failures", exact(table.insert_failures)],
	];
	if (gate)
		facts.push(["gate", (gate.closed ? "closed" : "open") + ", " + short(gate.rate) +
			" new sources/s, " + exact(gate.burst) + " at once"],
		["refused by the gate", exact(gate.closed_packets) + " packets"]);
	writeFacts(at("table"), facts);
}

function showSources(list, time) {
	const seen = new Map();
	const rows = list.map((bucket) => {
		const key = bucket.source + " " + bucket.limit, old = state.sources.get(key);
		const seconds = old ? (time - old.time) / 1000 : 0;
		seen.set(key, {time, dropped: bucket.dropped_packets, passed: bucket.passed_packets});
		return [bucket.source, bucket.limit,
			old ? short(rate(bucket.dropped_packets, old.dropped, seconds)) : "–",
			exact(bucket.passed_packets), exact(bucket.dropped_packets), exact(bucket.remaining)];
	});
	state.sources = seen;
	writeTable(at("sources"), ["source", "limit", "dropped/s", "passed", "dropped", "remaining"], rows, 2);
}

function showAttached(status) {
	document.title = status.interface + " – xdp-limit";
	write(at("attached"), status.mode + " mode, by " + status.attached_via + ", for " +
		since(status.attached_seconds) + (status.dry_run ? ", dry run: drops nothing" : "") +
		(status.trial_seconds ? ", on trial for " + since(status.trial_seconds) : ""));
}

// ---- events --------------------------------------------------------------------------------------

function showEvents(answer) {
	const list = at("events"), atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
	list.append(...answer.events.map((event) => element("li", {}, event.line)));
	while (list.childElementCount > EVENTS_SHOWN)
		list.firstElementChild.remove();
	if (answer.events.length && atEnd)
		list.scrollTop = list.scrollHeight;
	state.events = answer.next;
	const lost = Object.values(answer.lost || {}).reduce((sum, count) => sum + count, 0);
	write(at("events-note"), (list.childElementCount ? "" : "None since they are asked for. ") +
		(lost ? exact(lost) + " more were not told one by one." : ""));
}

async function takeEvents() {
	try {
		const query = state.events === null ? {} : {after: state.events};
		showEvents(await ask("v1/events", interfaceQuery(query)));
	} catch (error) {
		write(at("events-note"), error.message);
	}
}

// ---- the round -----------------------------------------------------------------------------------

async function round() {
	await findInterfaces();
	const [status, sources] = await Promise.all([
		ask("v1/status", interfaceQuery()),
		ask("v1/sources", interfaceQuery({top: SOURCES_SHOWN, by: at("by").value})),
	]);
	const time = Date.now();
	const before = takePoint(status, time);
	showAttached(status);
	showNow(status);
	drawPlot();
	showLimits(status, before, time);
	showReasons(status);
	showTable(status);
	showSources(sources, time);
	await takeEvents();
	trouble([...status.problems, ...status.warnings].join("\n"));
}

async function forever() {
	if (!state.paused) {
		try {
			await round();
		} catch (error) {
			state.last = null;
			trouble(error.message || "xdp-limit serve does not answer.");
		}
		document.body.dataset.rounds = Number(document.body.dataset.rounds || 0) + 1;
	}
	setTimeout(forever, ASK_MS);
}

at("interface").addEventListener("change", (event) => choose(event.target.value));
at("span").addEventListener("change", drawPlot);
at("by").addEventListener("change", () => state.sources.clear());
at("pause").addEventListener("click", (event) => {
	state.paused = !state.paused;
	state.last = null;
	event.target.setAttribute("aria-pressed", String(state.paused));
	event.target.textContent = state.paused ? "Go on" : "Pause";
});
at("plot").addEventListener("keydown", moveCursor);
at("plot").addEventListener("pointermove", pointCursor);
at("plot").addEventListener("pointerleave", () => {
	state.cursor = null;
	drawPlot();
});
addEventListener("resize", drawPlot);
forever();

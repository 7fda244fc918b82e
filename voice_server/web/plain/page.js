// The plain page: start, mute, hang up, and what was said. The wire is described in docs/protocol.md.

const FASTEST = 48_000; // hertz the server takes
const COME_BACK = [250, 500, 1_000, 2_000, 4_000]; // milliseconds
const CLOSES = { 1013: "All lines are busy: try again in a moment.", 4401: "The server wants a key, or another one." };

const $ = (id) => document.getElementById(id);
const show = (sentence) => ($("status").textContent = sentence);

let call = null;

class Call {
  seen = 0;
  attempts = 0;
  over = null;
  player = null;
  early = []; // orders from before there is a player

  async open() {
    this.microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, channelCount: 1 } });
    this.recorder = new AudioContext();
    if (this.recorder.sampleRate > FASTEST) {
      await this.recorder.close();
      this.recorder = new AudioContext({ sampleRate: FASTEST });
    }
    await this.recorder.audioWorklet.addModule("sound.js");
    const capture = new AudioWorkletNode(this.recorder, "capture", { numberOfOutputs: 0 });
    capture.port.onmessage = ({ data }) =>
      this.ready && this.socket.readyState === WebSocket.OPEN && this.socket.send(data);
    this.recorder.createMediaStreamSource(this.microphone).connect(capture);
    this.connect();
  }

  connect() {
    const url = new URL("api/voice", document.baseURI);
    url.protocol = url.protocol.replace("http", "ws");
    this.socket = new WebSocket(url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () =>
      this.say({
        type: "start",
        key: sessionStorage.getItem("voice-key"),
        rate: this.recorder.sampleRate,
        muted: $("mute").ariaPressed === "true",
        ...(this.ready && { conversation: this.ready.conversation, after: this.seen }),
      });
    this.socket.onmessage = ({ data }) => (typeof data === "string" ? this.hear(JSON.parse(data)) : this.play(data));
    this.socket.onclose = ({ code, reason }) => this.broken(code, reason);
  }

  say(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  play(data) {
    const samples = new Int16Array(data.slice(4));
    this.order({ order: "push", epoch: new DataView(data).getUint32(0, true), samples });
  }

  order(order) {
    if (this.player) this.player.port.postMessage(order);
    else this.early.push(order);
  }

  hear({ type, seq, call, data }) {
    if (seq !== null) this.seen = seq;
    if (type === "ready") return this.begin(call, data);
    if (type === "playout") return this.order({ order: data.order, epoch: data.epoch });
    if (type === "state") return show(`The agent is ${data.state}`);
    if (type === "error") return show(data.message);
    if (type === "turn") return line(`${call}/turn/${data.turn}`, "You", data.text);
    if (type === "heard") return line(`${call}/${data.utterance}`, "Agent", data.text);
    if (type === "spoken")
      line(`${call}/${data.utterance}`, "Agent", data.heard, data.interrupted ? "interrupted" : "heard");
    if (type === "goals") return list("goals", data.goals.map(goal));
    if (type === "forms")
      return list(
        "forms",
        data.forms.flatMap(({ fields }) => fields.map(answer)),
      );
    if (type === "ended") this.over = data.reason;
  }

  async begin(call, data) {
    this.attempts = 0;
    if (data.resumed && this.ready) return this.order({ order: "unpause" });
    this.ready = data;
    this.player = null;
    this.early = [];
    await this.loudspeaker?.close();
    this.loudspeaker = new AudioContext({ sampleRate: data.speaks });
    await this.loudspeaker.audioWorklet.addModule("sound.js");
    this.player = new AudioWorkletNode(this.loudspeaker, "playback", { numberOfInputs: 0, outputChannelCount: [1] });
    this.player.port.onmessage = ({ data }) => this.say({ type: "played", ...data });
    this.player.connect(this.loudspeaker.destination);
    for (const order of this.early.splice(0)) this.order(order);
  }

  broken(code, reason) {
    const delay = COME_BACK[this.attempts++];
    const final = this.over !== null || code === 1000 || code in CLOSES || code === 4400 || !this.ready;
    if (final || delay === undefined) return this.close(code, reason);
    show("The connection broke: reconnecting …");
    this.timer = setTimeout(() => this.connect(), delay);
  }

  hangUp() {
    this.over = "hung up";
    this.say({ type: "hangup" });
    this.socket.close(1000);
    this.close(1000, "");
  }

  close(code, reason) {
    clearTimeout(this.timer);
    this.socket.onclose = this.socket.onmessage = null;
    for (const track of this.microphone.getTracks()) track.stop();
    void this.recorder.close();
    void this.loudspeaker?.close();
    ended(
      this.over ? `The call is over: ${this.over}.` : (CLOSES[code] ?? (reason || "The server does not answer.")),
      code === 4401,
    );
  }
}

function line(id, by, text, state = "") {
  let item = document.querySelector(`[data-id="${CSS.escape(id)}"]`);
  if (!text) return item?.remove();
  if (!item) {
    item = document.createElement("li");
    item.dataset.id = id;
    item.dataset.by = by;
    $("transcript").append(item);
  }
  item.dataset.state = state;
  item.textContent = text;
}

function list(id, entries) {
  $(id).hidden = !entries.length;
  const items = entries.map(([by, text]) => {
    const item = Object.assign(document.createElement("li"), { textContent: text });
    item.dataset.by = by;
    return item;
  });
  $(id)
    .querySelector("ul")
    .replaceChildren(...items);
}

function goal({ title, status, items }) {
  const counted = items.filter(({ retired }) => !retired);
  return [title, counted.map(({ label, disposition }) => `${label} (${disposition})`).join(", ") || status];
}

function answer({ label, status, value, error, skip_reason: reason }) {
  if (status === "skipped") return [label, `none – ${reason}`];
  if (status === "empty") return [label, "–"];
  return [label, `${value === true ? "yes" : value}${error ? ` – ${error}` : ""}`];
}

function ended(sentence, wantsKey = false) {
  call = null;
  show(sentence);
  $("start").disabled = false;
  $("mute").disabled = $("stop").disabled = true;
  $("key-form").hidden = !wantsKey;
}

async function start() {
  show("Connecting …");
  $("start").disabled = true;
  call = new Call();
  try {
    await call.open();
    $("mute").disabled = $("stop").disabled = false;
  } catch (error) {
    ended(`The microphone cannot be used (${error.name}): allow it for this page, or connect one, then start again.`);
  }
}

$("start").onclick = start;
$("stop").onclick = () => call?.hangUp();
$("mute").onclick = () => {
  const muted = $("mute").ariaPressed !== "true";
  $("mute").ariaPressed = String(muted);
  call?.say({ type: muted ? "mute" : "unmute" });
};
$("key-form").onsubmit = (event) => {
  event.preventDefault();
  sessionStorage.setItem("voice-key", $("key").value);
  $("key-form").hidden = true;
  void start();
};

#!/usr/bin/env python3
"""Runs jobs of Eider on any machine that reaches its API: http_worker.py URL QUEUE..

EIDER_TOKEN is a worker's token (`eider tokens add NAME --queue QUEUE`). The handler of a job is a
program in the folder HANDLERS (./handlers); it reads the payload and prints the log."""
import http.client, json, os, subprocess, sys, tempfile, time, urllib.error, urllib.request, uuid
URL, QUEUES = sys.argv[1].rstrip("/") + "/api/v1/x/", sys.argv[2:]
HANDLERS, LEASE = os.environ.get("HANDLERS", "handlers"), float(os.environ.get("LEASE", "30"))
ME = f"{os.uname().nodename}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
BEARER = "Bearer " + os.environ["EIDER_TOKEN"]
HEADERS = {"Authorization": BEARER, "Content-Type": "application/json"}

def ask(path, **body):
    """The answer. What is of no use to repeat is raised, anything else is asked again."""
    while True:
        try:
            request = urllib.request.Request(URL + path, json.dumps(body).encode(), HEADERS)
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            if problem.code not in (429, 502, 503, 504):
                raise
        except (OSError, ValueError, http.client.HTTPException):  # broken, or half an answer
            pass
        time.sleep(1)

def run(job, beat):
    path, claim = f"jobs/{job['id']}/", {"attempt": job["attempt"], "nonce": job["nonce"]}
    program = os.path.join(HANDLERS, os.path.basename(job["handler"]))
    if not os.access(program, os.X_OK):
        return ask(path + "fail", message=f"there is no {program}", retry=False, **claim)
    with tempfile.TemporaryFile() as payload:
        payload.write(json.dumps(job["payload"]).encode())
        payload.seek(0)
        child = subprocess.Popen([program], stdin=payload, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, bufsize=0)
    os.set_blocking(child.stdout.fileno(), False)
    heard, size, code = time.monotonic(), 0, None
    while code is None:
        code, text = child.poll(), child.stdout.read()
        if text:
            text = text.decode(errors="replace")
            size = ask(path + "log", text=text, offset=size, **claim)["size"]
        if time.monotonic() - heard > beat:
            news, heard = ask("heartbeat", worker=ME, jobs=[job["id"]]), time.monotonic()
            if news["lost"] or news["stop"]:
                child.kill()
                return news["lost"] or ask(path + "release", **claim)
        time.sleep(0.05)
    end = {"message": f"{job['handler']} ended with {code}"} if code else {}
    return ask(path + ("fail" if code else "complete"), **end, **claim)

while True:
    got = ask("claim", worker=ME, queues=QUEUES, wait=30, lease=LEASE, jobs=[],
              request_id=uuid.uuid4().hex)
    for job in got["jobs"]:
        try:
            run(job, got["heartbeat"])
        except urllib.error.HTTPError as problem:  # somebody else has it by now
            print(f"job {job['id']}: {problem}", file=sys.stderr)

"""Much output, odd output, slow output."""


def test_twenty_megabytes_arrive_whole(eider):
    line = "0123456789abcdef" * 8 + "\n"
    eider.run(f"""
        tasks:
          a:
            limits: {{ output: 64MiB }}
            run: "yes {line.strip()} | head -n 155000"
        """)

    out = eider.log("dag", "a")

    assert len(out) == 155000 * len(line)
    assert out.count("\n") == 155000


def test_one_very_long_line(eider):
    eider.run(r"""
        tasks:
          a: { run: "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end" }
        """)

    lines = eider.log("dag", "a").splitlines()
    assert lines[-1] == "end"
    assert sum(map(len, lines[:-1])) == 3000000
    assert eider.log("dag", "a", "--tail", "1").strip() == "end"


def test_many_tasks_talk_at_once_and_nothing_mixes(eider):
    eider.run("""
        tasks:
          each:
            foreach: [0, 1, 2, 3, 4, 5, 6, 7]
            run: "for i in $(seq 1 2000); do echo {{ item }}; done"
          check: { needs: [each], run: "true" }
        """)

    for index in range(8):
        lines = eider("logs", "dag", "each", "--map-index", index, code=0).out.split()
        assert lines == [str(index)] * 2000


def test_a_task_that_closes_its_output_still_runs_to_its_end(eider, evidence):
    eider.run("""
        tasks:
          a: { run: "echo before; exec >&- 2>&-; sleep 0.3; touch @evidence" }
        """)

    assert evidence.path.exists()
    assert eider.log("dag", "a").strip() == "before"


def test_a_task_reads_nothing_from_our_terminal(eider):
    eider.run("tasks: { a: { run: 'cat; echo end' } }", input="secret words\n")

    assert eider.log("dag", "a").strip() == "end"


def test_a_reader_that_goes_away_is_no_crash(eider):
    eider.run("tasks: { a: { run: 'seq 1 500000' } }")

    child = eider.start("logs", "dag", "a")
    assert child.stdout.readline() == "1\n"
    child.stdout.close()

    assert child.wait(timeout=60) in (0, 1, 141, -13)
    assert "Sanitizer" not in child.stderr.read()

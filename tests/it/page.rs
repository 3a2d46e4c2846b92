//! The page of a program: highlighted lines, a self-contained file, and its rendering in a browser, if available.

use ndjit::{Array, Device, ErrorCode, Expr, jit, keepdims, max, sum};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn softmax(x: Expr) -> Expr {
    let e = (x - max(x, keepdims(-1))).exp();
    e / sum(e, keepdims(-1))
}

/// The page of `x + y * 2`, in a file of this name.
fn of_sum(name: &str) -> (PathBuf, String) {
    let f = jit(|x, y| x + y * 2);
    f.call((&Array::from([1.0f32, 2.0]), &Array::from([1i8, 2]))).unwrap();
    let path = folder().join(name);
    f.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    (path, page)
}

/// The lines of each panel: text and numbers of operations.
fn panels(page: &str) -> BTreeMap<String, Vec<(String, BTreeSet<usize>)>> {
    let mut panels = BTreeMap::new();
    for section in page.split("<section id=\"").skip(1) {
        let name = section.split('"').next().unwrap().to_owned();
        let body = section.split("</section>").next().unwrap();
        let lines = body.split("<div class=\"l").skip(2).map(|line| {
            let (head, text) = line.split_once('>').unwrap();
            let nodes = head.split_once("data-n=\"").map_or("", |(_, rest)| rest.split('"').next().unwrap());
            let nodes = nodes.split(' ').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect();
            (text.split("</div>").next().unwrap().to_owned(), nodes)
        });
        panels.insert(name, lines.collect());
    }
    panels
}

/// The lines with only this source operation.
fn made_from(lines: &[(String, BTreeSet<usize>)], node: usize) -> Vec<&str> {
    lines.iter().filter(|(_, nodes)| nodes.len() == 1 && nodes.contains(&node)).map(|(text, _)| text.trim()).collect()
}

#[test]
fn of_two_reductions_in_one_nest_each_has_its_lines() {
    let f = jit(|x: Expr| (x - x.mean(keepdims(0))) / x.std(keepdims(0)));
    f.call((&Array::from_rows(&[[1.0f32, 2.0], [3.0, 5.0], [4.0, 7.0]]),)).unwrap();
    let path = folder().join("scores.html");
    f.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("<p>operations: 4,"), "parameters are no operations");
    let panels = panels(&page);
    let marked = |panel: &str, begins: &str| {
        let lines = panels[panel].iter().filter(|(text, _)| text.trim().starts_with(begins));
        lines.map(|(text, nodes)| format!("{nodes:?} {}", text.trim())).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(marked("graph", "%1"), "{1} %1 = mean %0 axes [0] keepdims : f32[1, 2]  ; tests/it/page.rs:51:34");
    assert_eq!(marked("graph", "%3"), "{3} %3 = std %0 axes [0] keepdims : f32[1, 2]  ; tests/it/page.rs:51:57");
    assert_eq!(marked("loops", "reduce"), "{1} reduce out0, t0\n{3} reduce out1, t3\n{3} reduce out2, t2");
    // Both include the number of rows.
    let shared = panels["typed"].iter().find(|(text, _)| text.contains("part of mean") && text.contains("part of std"));
    assert_eq!(shared.unwrap().1, BTreeSet::from([1, 3]), "{shared:?}");
}

#[test]
fn lines_know_what_they_were_made_from() {
    let (_, page) = of_sum("lines.html");
    let panels = panels(&page);
    // %3 = multiply %1, %2; %4 = add %0, %3.
    insta::assert_snapshot!(made_from(&panels["typed"], 3).join("\n"), @"%3 = multiply %1, %2 : i8[2]");
    insta::assert_snapshot!(made_from(&panels["typed"], 4).join("\n"), @r"
    %4 = cast %3 : f32[2]  ; operand y of add at tests/it/page.rs:19:24: join f32 ∨ i8 = f32
    %5 = add %0, %4 : f32[2]
    return %5
    ");
    insta::assert_snapshot!(made_from(&panels["loops"], 3).join("\n"), @"t2 = multiply t0, t1 : i8");
    insta::assert_snapshot!(made_from(&panels["loops"], 4).join("\n"), @r"
    t3 = cast t2 : f32
    t5 = add t4, t3 : f32
    store out0, t5
    ");
    insta::assert_snapshot!(made_from(&panels["expanded"], 4).join("\n"), @r"
    r4 = sext.i8.i32 r3
    r5 = fromsint.i32.f32 r4
    r6 = fadd.f32 r1, r5
    store out0, r6
    ");
    insta::assert_snapshot!(made_from(&panels["wgsl"], 4).join("\n"), @r"
    // t3 = cast t2 : f32
    let v2 = nd_sext(v1, 24u);
    let v3 = nd_sint_to_f32(v2);
    // t5 = add t4, t3 : f32
    let v4 = x1 + v3;
    ");
    assert!(made_from(&panels["clif"], 4).iter().any(|line| line.contains("= fadd ")), "{:?}", panels["clif"]);
    if cfg!(target_arch = "x86_64") {
        let assembly = made_from(&panels["assembly"], 4);
        assert!(assembly.contains(&"; r6 = fadd.f32 r1, r5"), "{assembly:?}");
        assert!(assembly.iter().any(|line| line.contains("add") && line.contains("mm0")), "{assembly:?}");
    }
    let source = &panels["source"];
    let written: Vec<&str> =
        source.iter().filter(|(_, nodes)| !nodes.is_empty()).map(|(text, _)| text.as_str()).collect();
    assert!(matches!(written[..], [line] if line.ends_with("let f = jit(|x, y| x + y * 2);")), "{written:?}");
}

/// The first register is not the first load: that of `y` comes before the loop.
#[test]
fn the_first_argument_is_known_in_code() {
    let f = jit(|x, y| x * x + y);
    f.call((&Array::from_rows(&[[1.0f32; 4]; 3]), &Array::from_rows(&[[1.0f32]; 3]))).unwrap();
    let path = folder().join("first.html");
    f.explain_html(&path).unwrap();
    let panels = panels(&std::fs::read_to_string(&path).unwrap());
    let clif = made_from(&panels["clif"], 0);
    assert!(clif.iter().any(|line| line.contains("= load.")), "{clif:?}");
    if cfg!(target_arch = "x86_64") {
        let assembly = made_from(&panels["assembly"], 0);
        assert!(assembly.contains(&"; r0 = load in0 : f32"), "{assembly:?}");
    }
}

/// Each operation of a program with reductions reaches each stage.
#[test]
fn no_operation_is_lost() {
    let f = jit(softmax);
    f.call((&Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]),)).unwrap();
    let path = folder().join("softmax.html");
    f.explain_html(&path).unwrap();
    let panels = panels(&std::fs::read_to_string(&path).unwrap());
    let operations: BTreeSet<usize> = panels["graph"].iter().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    assert!(operations.len() >= 6, "{operations:?}");
    for (name, lines) in &panels {
        if name == "spirv" || name == "assembly" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let reached: BTreeSet<usize> = lines.iter().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
        // The source has no line for a call's parameters.
        let missing: Vec<&usize> = operations.difference(&reached).filter(|&&n| n > 0).collect();
        assert!(missing.is_empty(), "{name} lacks {missing:?}");
    }
}

#[test]
fn a_page_is_one_file_that_says_what_a_reader_asks() {
    let (_, page) = of_sum("one.html");
    for foreign in ["http://", "https://", "src=", "href=", "@import", "url("] {
        let found = page.matches(foreign).count();
        // Only SVG's namespace and the page's own parts are referenced.
        let allowed = match foreign {
            "http://" => page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count(),
            "url(" => page.matches("url(#").count(),
            _ => 0,
        };
        assert_eq!(found, allowed, "{foreign}");
    }
    assert!(page.contains("<title>(f32[2], i8[2]) -&gt; (f32[2])</title>"));
    assert!(page.contains("join f32 ∨ i8 = f32"), "each operation's dtype is explained");
    assert!(page.contains("parameter %1 : i8[2], 2 bytes"), "memory is drawn");
    assert_eq!(page.matches("<script>").count(), page.matches("</script>").count());
}

/// The initially shown panels of a page.
fn shown(page: &str) -> Vec<&str> {
    let boxes = page.split("data-panel=\"").skip(1).filter_map(|rest| rest.split_once("\" checked>"));
    boxes.map(|(name, _)| name).filter(|name| !name.contains('"')).collect()
}

#[test]
fn values_have_the_numbers_of_a_stage_that_is_shown() {
    let f = jit(|x, k| (x * k + 1) * k);
    f.call((&Array::from([1u32, 2]), &Array::from([3i32, 4]))).unwrap();
    let path = folder().join("numbers.html");
    f.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert_eq!(shown(&page), ["source", "graph", "typed", "loops", "assembly"]);
    let panels = panels(&page);
    let reasons = page.split_once("const reasons = [").unwrap().1.split_once("];").unwrap().0;
    // A step: `%3 i8: …`.
    let steps: Vec<(&str, &str)> = reasons
        .split('%')
        .skip(1)
        .filter_map(|rest| rest.split_once(' '))
        .filter_map(|(number, rest)| Some((number, rest.split_once(": ")?.0)))
        .filter(|(number, ty)| number.parse::<usize>().is_ok() && ty.parse::<ndjit::DType>().is_ok())
        .collect();
    assert!(steps.len() >= 2, "{reasons}");
    for (number, ty) in steps {
        let line = panels["graph"].iter().find(|(text, _)| text.starts_with(&format!("  %{number} = ")));
        assert!(line.is_some_and(|(text, _)| text.contains(&format!(" : {ty}["))), "%{number} {ty}: {line:?}");
    }
    for (drawer, stage) in [("dtype", "graph"), ("fusion", "simplified"), ("memory", "simplified")] {
        let summary = format!("<summary>{drawer}<span> with the values of {stage}</span></summary>");
        assert!(page.contains(&summary), "{summary}");
    }
    assert!(page.contains("A click keeps that lit and brings it into view in all panels"));
}

#[test]
fn a_program_of_a_gpu_shows_its_code() {
    let f = jit(|x| x + 1).on(Device::gpu());
    match f.call((&[1.0f32, 2.0],)) {
        Err(error) if error.code() == ErrorCode::Device => return println!("SKIPPED, there is no device: {error}"),
        called => drop(called.unwrap()),
    }
    let path = folder().join("gpu.html");
    f.explain_html(&path).unwrap();
    assert_eq!(shown(&std::fs::read_to_string(&path).unwrap()), ["source", "graph", "typed", "loops", "wgsl"]);
}

#[test]
fn text_of_users_is_no_markup() {
    let f = jit(|x: Expr| x.lt(2) & x.gt(1)); // </script><b>
    f.call((&Array::from([1.0f32]),)).unwrap();
    let path = folder().join("markup.html");
    f.explain_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("&lt;/script&gt;&lt;b&gt;") && !page.contains("</script><b>"));
}

#[test]
fn pages_that_cannot_be_written_are_errors() {
    let f = jit(|x| x + 1);
    assert_eq!(f.explain_html(folder().join("none.html")).unwrap_err().code(), ErrorCode::Argument);
    f.call((&Array::from([1.0f32]),)).unwrap();
    let error = f.explain_html(Path::new("no such folder/page.html")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Io);
    assert!(error.to_string().contains("no such folder"), "{error}");
    let long = jit(|x: Expr| (0..6000).fold(x, |x, _| x.sin()));
    long.trace(&[ndjit::spec(ndjit::DType::F32, [2])])
        .unwrap()
        .lower()
        .map(|long| {
            assert_eq!(long.explain_html(folder().join("long.html")).unwrap_err().code(), ErrorCode::Size);
        })
        .unwrap();
}

/// The DOM of a page in a browser, if available.
fn dom(path: &Path, node: &str) -> Option<String> {
    let page = format!("file://{}{node}", path.display());
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=1000", "--dump-dom", &page];
    let Ok(output) = Command::new("chromium").args(arguments).output() else {
        println!("SKIPPED: there is no chromium");
        return None;
    };
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    if dom.is_empty() {
        println!("SKIPPED: chromium shows nothing: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(dom)
}

/// Values in a picture have the numbers of a stage shown with it.
#[test]
fn a_drawing_brings_its_stage_along() {
    let (_, page) = of_sum("drawing.html");
    let path = folder().join("opened.html");
    assert!(page.contains("<details open data-shows="), "it is seen at once");
    // One click closes it, another opens it.
    let opens = "<script>for (const n of [1, 2]) document.querySelector('details[data-shows] summary').click();</script></body>";
    std::fs::write(&path, page.replace("</body>", opens)).unwrap();
    let Some(dom) = dom(&path, "") else { return };
    assert!(page.contains("<section id=\"simplified\">") && !shown(&page).contains(&"simplified"));
    let section = dom.split_once("<section id=\"simplified\"").unwrap().1.split_once('>').unwrap().0;
    assert!(!section.contains("hidden"), "{section}");
    let other = dom.split_once("<section id=\"spirv\"").unwrap().1.split_once('>').unwrap().0;
    assert!(other.contains("hidden"), "{other}");
}

/// Selecting an operation in a browser highlights lines in each panel.
#[test]
fn a_browser_lights_lines_up() {
    let (path, _) = of_sum("browser.html");
    let Some(dom) = dom(&path, "#4") else { return };
    for panel in dom.split("<section id=\"").skip(1) {
        let name = panel.split('"').next().unwrap();
        let lit = panel.split("</section>").next().unwrap().matches(" on\"").count()
            + panel.split("</section>").next().unwrap().matches(" on ").count();
        assert!(lit > 0 || name == "spirv", "{name}: nothing is lit");
    }
    assert!(dom.contains("add at "), "the reason is shown");
}

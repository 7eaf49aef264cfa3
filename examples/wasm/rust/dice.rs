//! Throws dice: `{"count": 3}`.

#[path = "../include/narthex.rs"]
mod narthex;

use narthex::{answer, clock, log, random, Answer};

#[link_section = "narthex.tool"]
#[used]
pub static DECLARATION: [u8; include_bytes!("dice.json").len()] = *include_bytes!("dice.json");

#[no_mangle]
pub extern "C" fn run(place: *const u8, size: usize) -> i64 {
    answer(place, size, throw)
}

fn throw(input: &[u8]) -> Answer {
    let count = digits(input);
    let mut rolls = Vec::new();
    while rolls.len() < count {
        let more = random(64).map_err(|_| "there is no randomness")?;
        // A byte above 251 would make low numbers more likely.
        rolls.extend(more.iter().filter(|byte| **byte < 252).map(|byte| byte % 6 + 1));
    }
    log("the dice are thrown");
    let now = clock().map_err(|_| "nobody says what time it is")?;
    let mut json = b"{\"rolls\":[".to_vec();
    for (index, roll) in rolls[..count].iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        write_number(&mut json, u64::from(*roll));
    }
    json.extend_from_slice(b"],\"thrown_at_ms\":");
    write_number(&mut json, now);
    json.push(b'}');
    Ok(json)
}

/// The input has passed the schema and is canonical JSON: its only digits are the count.
fn digits(input: &[u8]) -> usize {
    input
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + usize::from(digit - b'0'))
}

fn write_number(json: &mut Vec<u8>, number: u64) {
    if number >= 10 {
        write_number(json, number / 10);
    }
    json.push(b'0' + (number % 10) as u8);
}

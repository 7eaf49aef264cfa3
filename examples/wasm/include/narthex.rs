//! Tools for Narthex in Rust: what a module exports, and what it can ask of its host.
//! See docs/formats/wasm-abi.md. One file, no dependency: `#[path = "narthex.rs"] mod narthex;`.
#![allow(dead_code)]

#[link(wasm_import_module = "narthex")]
extern "C" {
    #[link_name = "host"]
    fn narthex_host(code: i32, place: *const u8, size: usize) -> i64;
}

/// What the host says instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFault {
    Invalid,
    Denied,
    NotFound,
    TooLarge,
    Failed,
}

fn ask(code: i32, request: &[u8]) -> Result<Vec<u8>, HostFault> {
    let given = unsafe { narthex_host(code, request.as_ptr(), request.len()) };
    match given {
        -1 => return Err(HostFault::Invalid),
        -2 => return Err(HostFault::Denied),
        -3 => return Err(HostFault::NotFound),
        -4 => return Err(HostFault::TooLarge),
        given if given < 0 => return Err(HostFault::Failed),
        0 => return Ok(Vec::new()),
        _ => {}
    }
    let place = (given >> 32) as u32 as usize as *mut u8;
    let size = given as u32 as usize;
    // The host asked `alloc` for this very place.
    Ok(unsafe { Vec::from_raw_parts(place, size, size) })
}

pub fn log(text: &str) {
    let _ = ask(1, text.as_bytes());
}

/// Milliseconds since 1970: of the session for tools that repeat, else of the wall.
pub fn clock() -> Result<u64, HostFault> {
    let answer = ask(2, &[])?;
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&answer);
    Ok(u64::from_le_bytes(bytes))
}

pub fn random(size: u32) -> Result<Vec<u8>, HostFault> {
    ask(3, &size.to_le_bytes())
}

/// `fs_read`, `fs_read src/a.txt`, `net_read example.com:443`, `clock`.
pub fn has_capability(right: &str) -> bool {
    matches!(ask(4, right.as_bytes()), Ok(answer) if answer == [1])
}

pub fn fs_read(path: &str) -> Result<Vec<u8>, HostFault> {
    ask(5, path.as_bytes())
}

pub fn fs_write(path: &str, content: &[u8]) -> Result<(), HostFault> {
    ask(6, &with_head(path.as_bytes(), content)).map(|_| ())
}

/// Head and body, each way: `{"url": ..., "method": ..., "headers": [[name, value]]}`, `{"status": ..., "headers": ...}`.
pub fn fetch(head: &str, body: &[u8]) -> Result<(Vec<u8>, Vec<u8>), HostFault> {
    let answer = ask(7, &with_head(head.as_bytes(), body))?;
    let mut length = [0; 4];
    length.copy_from_slice(&answer[..4]);
    let end = 4 + u32::from_le_bytes(length) as usize;
    Ok((answer[4..end].to_vec(), answer[end..].to_vec()))
}

/// By 64 hex digits.
pub fn content_get(hash: &str) -> Result<Vec<u8>, HostFault> {
    ask(8, hash.as_bytes())
}

/// Gives the 64 hex digits under which the session can read it, once the call has ended.
pub fn content_put(content: &[u8]) -> Result<Vec<u8>, HostFault> {
    ask(9, content)
}

fn with_head(head: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut request = (head.len() as u32).to_le_bytes().to_vec();
    request.extend_from_slice(head);
    request.extend_from_slice(rest);
    request
}

/// What a tool gives: one JSON value, or why there is none.
pub type Answer = Result<Vec<u8>, &'static str>;

/// Hands the call's input to a function, and its answer to the host: for `run`.
pub fn answer(place: *const u8, size: usize, tool: fn(&[u8]) -> Answer) -> i64 {
    let input = unsafe { std::slice::from_raw_parts(place, size) };
    match tool(input) {
        Ok(json) => pack(json.leak()),
        Err(text) => pack(text.as_bytes()) | i64::MIN,
    }
}

fn pack(bytes: &[u8]) -> i64 {
    ((bytes.as_ptr() as usize as i64) << 32) | bytes.len() as i64
}

#[no_mangle]
pub extern "C" fn alloc(size: usize) -> *mut u8 {
    let mut place = Vec::<u8>::with_capacity(size);
    let pointer = place.as_mut_ptr();
    std::mem::forget(place);
    pointer
}
